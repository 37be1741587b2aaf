from django.urls import URLPattern

app_name = "support"
urlpatterns: list[URLPattern] = []
