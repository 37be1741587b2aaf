from django.urls import path

from . import views

app_name = "catalog"
urlpatterns = [
    path("", views.offers, name="list"),
    path("<slug:slug>/", views.offer, name="offer"),
    path("<slug:slug>/figures/", views.figures, name="figures"),
]
