from django.urls import path

from . import views

app_name = "balance"
urlpatterns = [
    path("", views.statement, name="statement"),
]
