from django.urls import path

from . import views

app_name = "orders"
urlpatterns = [
    path("order/new/", views.checkout, name="checkout"),
    path("orders/", views.rentals, name="list"),
    path("orders/<str:number>/", views.detail, name="detail"),
    path("orders/<str:number>/status/", views.status, name="status"),
    path("orders/<str:number>/cancel/", views.cancel, name="cancel"),
    path("orders/<str:number>/to-balance/", views.to_balance, name="to_balance"),
]
