from django.urls import URLPattern

app_name = "conversations"
urlpatterns: list[URLPattern] = []
