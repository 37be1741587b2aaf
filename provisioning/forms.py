from django import forms
from django.contrib.admin.widgets import AdminSplitDateTime
from django.utils.translation import gettext_lazy as _

from .models import Rental


class PlanForm(forms.ModelForm[Rental]):
    """Host and planned period; times are UTC in the admin."""

    planned_start_at = forms.SplitDateTimeField(
        label=_("Planned start (UTC)"), required=False, widget=AdminSplitDateTime
    )
    planned_end_at = forms.SplitDateTimeField(label=_("Planned end (UTC)"), required=False, widget=AdminSplitDateTime)

    class Meta:
        model = Rental
        fields = ("host", "planned_start_at", "planned_end_at")


class CancelForm(forms.Form):
    """Why a paid order is cancelled."""

    reason = forms.CharField(label=_("Why: kept with your name"), max_length=300)


class AccessForm(forms.Form):
    """What the customer needs to reach the machine; the operator says that it was tried."""

    ssh_host = forms.CharField(label=_("SSH host"), max_length=255, required=False)
    ssh_port = forms.IntegerField(label=_("SSH port"), min_value=1, max_value=65535, required=False)
    ssh_user = forms.CharField(label=_("SSH user"), max_length=100, required=False)
    key_fingerprint = forms.CharField(label=_("Host key fingerprint"), max_length=200, required=False)
    notebook_url = forms.URLField(label=_("Notebook address"), required=False, assume_scheme="https")
    notes = forms.CharField(label=_("Notes"), widget=forms.Textarea, max_length=4000, required=False)
    checked = forms.BooleanField(label=_("I signed in with this access and it works"))
