from django.urls import path

from . import views

app_name = "provisioning"
urlpatterns = [path("orders/<str:number>/access/", views.access, name="access")]
