from django.urls import path

from . import staff_views, views

app_name = "conversations"
urlpatterns = [
    path("orders/<str:number>/messages/", views.conversation, name="messages"),
    path("orders/<str:number>/messages/thread/", views.thread, name="thread"),
    path("orders/<str:number>/messages/recent/", views.recent, name="recent"),
    path("orders/<str:number>/messages/read/", views.read, name="read"),
    path("orders/<str:number>/messages/date/", views.ask_date, name="ask_date"),
    path("support/messages/", staff_views.waiting, name="waiting"),
    path("support/orders/<str:number>/messages/", staff_views.answer, name="answer"),
    path("support/orders/<str:number>/set-aside/", staff_views.set_aside, name="set_aside"),
]
