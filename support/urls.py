from django.urls import path

from . import views

app_name = "support"
urlpatterns = [
    path("", views.desk, name="desk"),
    path("look-up/", views.look_up, name="look_up"),
    path("<uuid:lookup_id>/", views.lookup, name="lookup"),
    path("<uuid:lookup_id>/follow/", views.follow, name="follow"),
]
