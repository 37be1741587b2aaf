from django.urls import path

from . import views

app_name = "journal"
urlpatterns = [
    path("", views.cards, name="list"),
    path("new/", views.new, name="new"),
    path("<int:card_id>/", views.card, name="card"),
    path("<int:card_id>/edit/", views.edit, name="edit"),
]
