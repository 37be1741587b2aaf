from django.urls import path

from . import inquiry_views, payout_views, proof_views, receipt_page, receipt_views, statement, topups, views, wallet

app_name = "payments"
urlpatterns = [
    path("orders/<str:number>/pay/", views.choose, name="choose"),
    path("orders/<str:number>/pay/balance/", views.pay_from_balance, name="balance"),
    path("pay/<uuid:intent_id>/", views.intent, name="intent"),
    path("pay/<uuid:intent_id>/status/", views.status, name="status"),
    path("pay/<uuid:intent_id>/declare/", views.declare, name="declare"),
    path("pay/<uuid:intent_id>/cancel/", views.cancel, name="cancel"),
    path("pay/<uuid:intent_id>/late/", views.choose_late, name="late"),
    path("topups/", topups.make, name="make_topup"),
    path("topups/<str:number>/", topups.detail, name="topup"),
    path("topups/<str:number>/status/", topups.status, name="topup_status"),
    path("topups/<str:number>/pay/", views.choose_topup, name="choose_topup"),
    path("receipts/<str:number>/", receipt_page.receipt, name="receipt"),
    path("balance/statement.csv", statement.download, name="statement_csv"),
    path("balance/payout/", payout_views.ask, name="ask_payout"),
    path("payouts/<str:number>/", payout_views.detail, name="payout"),
    path("payouts/<str:number>/status/", payout_views.status, name="payout_status"),
    path("payouts/<str:number>/cancel/", payout_views.cancel, name="cancel_payout"),
    path("sent/", inquiry_views.doctor, name="doctor"),
    path("sent/<uuid:inquiry_id>/", inquiry_views.inquiry, name="inquiry"),
    path("sent/<uuid:inquiry_id>/status/", inquiry_views.inquiry_status, name="inquiry_status"),
    path("sent/<uuid:inquiry_id>/claim/", inquiry_views.inquiry_claim, name="inquiry_claim"),
    path("proof/", proof_views.proof, name="proof"),
    path("proof/key.json", receipt_views.receipt_key, name="receipt_key"),
    path("receipts/<str:number>/signed.json", receipt_views.receipt_json, name="receipt_json"),
    path("demo/wallet/", wallet.wallet, name="wallet"),
]
