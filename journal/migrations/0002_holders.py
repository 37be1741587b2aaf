"""Cards belong to a holder: a person's, or a guest's."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models


def give_holders(apps: Any, schema_editor: Any) -> None:
    """Make one holder for each person who has cards, and hang the cards there."""
    card, holder = apps.get_model("journal", "Card"), apps.get_model("accounts", "Holder")
    for owner in card.objects.order_by().values_list("owner", flat=True).distinct():
        card.objects.filter(owner=owner).update(holder=holder.objects.create(user_id=owner))


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_holders_and_keys"),
        ("journal", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="card",
            name="holder",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="journal_cards",
                to="accounts.holder",
            ),
        ),
        migrations.RunPython(give_holders, migrations.RunPython.noop),
        migrations.RemoveIndex(model_name="card", name="card_of_owner"),
        migrations.RemoveField(model_name="card", name="owner"),
        migrations.AlterField(
            model_name="card",
            name="holder",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="journal_cards",
                to="accounts.holder",
            ),
        ),
        migrations.AddIndex(
            model_name="card",
            index=models.Index(fields=["holder", "-updated_at"], name="card_of_holder"),
        ),
    ]
