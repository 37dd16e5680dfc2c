"""What Microsoft's Presidio needs to know to find identifiers with `en_proxid`, by the name of its distribution.

`NlpEngineProvider(nlp_configuration=CONFIGURATION)` makes the engine; `SpacyRecognizer(supported_entities=ENTITIES)`
reports what it found. Offsets are those of the cleaned text (`proxid.classify.text.clean`): hand Presidio that one.
"""

from typing import Any, Final

ENTITY_OF: Final = {
    "NAME": "PERSON", "ADDRESS": "LOCATION", "PLACE": "LOCATION", "ZIP": "ZIP_CODE", "PHONE": "PHONE_NUMBER",
    "FAX": "PHONE_NUMBER", "EMAIL": "EMAIL_ADDRESS", "URL": "URL", "IP": "IP_ADDRESS", "DEVICE": "DEVICE_ID",
    "SSN": "US_SSN", "MRN": "MEDICAL_RECORD", "PLAN": "HEALTH_PLAN", "LICENSE": "US_DRIVER_LICENSE",
    "PLATE": "LICENSE_PLATE", "VEHICLE": "VEHICLE_ID", "ACCOUNT": "ACCOUNT_NUMBER", "DATE": "DATE_TIME", "AGE": "AGE",
    "HANDLE": "USERNAME", "ID": "ID", "NUMBER": "NUMBER", "WITHHELD": "WITHHELD",
}  # fmt: skip
"""Presidio's name of each kind of identifier. WITHHELD is a text that must not go on: all of it is one entity."""
ENTITIES: Final = sorted(set(ENTITY_OF.values()))
CONFIGURATION: Final[dict[str, Any]] = {
    "nlp_engine_name": "spacy",
    "models": [{"lang_code": "en", "model_name": "en_proxid"}],
    "ner_model_configuration": {"model_to_presidio_entity_mapping": ENTITY_OF, "labels_to_ignore": []},
}
