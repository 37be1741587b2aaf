from django.urls import path

from . import views

app_name = "balance"
urlpatterns = [
    path("", views.statement, name="statement"),
    path("statement.csv", views.download, name="csv"),
]
