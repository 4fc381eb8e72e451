"""Further identifiers by shape or label: addresses of machines, plates, devices, accounts, places. Pure.

Beside the first shapes of `bedside.models.identifiers`: together they cover the identifiers that
HIPAA's safe harbour names. Dates of service stay: a summary without its dates is worth little, and
what they say of a person goes with the names. Dates of birth, death, admission and discharge go
where a label says that they are one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bedside.models.shapes_figures import is_figure
from bedside.models.shapes_written import written_shapes

__all__ = ["more_shapes"]

_I = re.IGNORECASE
_DATE = (
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[/.\-]\d{1,2}[/.\-]\d{2,4}|\d{1,2}(?:st|nd|rd|th)?(?:[ \t]+of)?[ \t]+[A-Z][a-z]{2,8}\.?,?[ \t]+\d{4}"
    r"|[A-Z][a-z]{2,8}\.?[ \t]+\d{1,2}(?:st|nd|rd|th)?,?[ \t]+\d{4}|\d{1,2}[- ][A-Za-z]{3}[- ]\d{2,4})"
)
_STREETS = (
    r"(?:Street|St|Road|Rd|Avenue|Ave|Av|Lane|Ln|Drive|Dr|Court|Ct|Boulevard|Blvd|Crescent|Cres|Terrace|Ter|Highway|Hwy|Way|Place|Pl|Circle|Cir|"
    r"Trail|Trl|Square|Sq|Parkway|Pkwy|Route|Alley|Walk|Gardens|Plaza|Row|Close|Mews|Loop|Run|Pike|Path|Point|Ridge|Grove|Heights|Park|Nagar|Marg)"
)
_STATES = (
    r"(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY]|"
    r"Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|"
    r"Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New Hampshire|New Jersey|New Mexico|"
    r"New York|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|Rhode Island|South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|"
    r"Virginia|Washington|West Virginia|Wisconsin|Wyoming)"
)
_CITY = r"(?<![\w'’.-])[A-Z][a-zA-Z'’.-]+(?:[ \t][A-Z][a-zA-Z'’.-]+){0,2}"
_CODE = r"(?=[A-Za-z0-9/\-]*\d)[A-Za-z0-9][A-Za-z0-9/\-]{2,24}"
_NUMBERED = (
    r"(?:MRN|MR|EMR|EHR|URN|UHID|NHS|CHI|SSN|SIN|NI|TIN|DEA|NPI|DL|HICN|MBI|IMEI|IMSI|UDI|VIN|CPF|Aadhaar|passport|medical record|hospital|chart|case|file|"
    r"patient|record|registration|encounter|visit|accession|specimen|sample|study|trial|protocol|subject|policy|plan|group|member|subscriber|beneficiary|"
    r"insurance|health plan|medicare|medicaid|claim|account|acct|billing|invoice|bank|routing|certificate|license|licence|driver['’]?s licen[cs]e|permit|"
    r"badge|employee|student|device|serial|serial|lot|implant|model|pacemaker|pump|vehicle|plate|license plate|registration plate|fingerprint|biometric|"
    r"voice ?print|retina(?:l)? scan|face ?id|photo|image|reference|ref|confirmation|ticket|order|prescription|rx|ID|identification|identity|national)"
)
_MARK = r"(?:\s*(?:no\.?|nr\.?|num\.?|number|id|identifier|code|tag|sn|s/n|\#)(?![A-Za-z]))?"
_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("URL", re.compile(r"\b(?:https?|ftp)://[^\s<>\"')\]]+[^\s<>\"')\].,;:]", _I)),
    ("URL", re.compile(r"\bwww\.[\w-]+(?:\.[\w-]+)+(?:/[^\s<>\"')\]]*)?", _I)),
    (
        "URL",
        re.compile(
            r"(?<![\w@.-])[a-z0-9][\w-]*(?:\.[\w-]+)*\.(?:com|org|net|edu|gov|info|biz|io|me|health|nhs\.uk|co\.uk|ac\.uk|co\.in|de|fr|ca|au)"
            r"(?:/[^\s<>\"')\]]*)?(?![\w@])",
            _I,
        ),
    ),
    ("IP", re.compile(r"(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\d.]*\d)")),
    ("IP", re.compile(r"(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}(?::?[0-9a-f]{1,4}){1,4}(?![\w:])", _I)),
    ("DEVICE", re.compile(r"(?<![\w:-])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![\w:-])", _I)),
    ("CARD", re.compile(r"(?<![\w.,-])\d{4}[ -]?\d{4}[ -]?\d{4}[ -]?\d{1,7}(?![\d-])")),
    ("CARD", re.compile(r"(?<![\w.,-])3\d{3}[ -]?\d{6}[ -]?\d{4,5}(?![\d-])")),
    ("CARD", re.compile(r"(?<![\w.,-])(?:\d[ -]?){11,18}\d(?![\w-])")),
    ("ACCOUNT", re.compile(r"(?<![\w])[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,3})?(?!\w)")),
    ("VEHICLE", re.compile(r"(?<![\w])(?=[A-HJ-NPR-Z0-9]*\d)(?=[A-HJ-NPR-Z0-9]*[A-Z])[A-HJ-NPR-Z0-9]{17}(?!\w)")),
    (
        "VEHICLE",
        re.compile(
            r"\b(?:licen[cs]e plate|number plate|registration plate|plate|tag|vehicle registration)(?![a-z])" + _MARK + r"\s*(?:is|was|:|=)?\s*"
            r"((?-i:(?=[A-Z0-9 -]*\d)[A-Z0-9]{1,4}[ -]?[A-Z0-9]{2,5}(?:[ -]?[A-Z0-9]{1,4})?))\b",
            _I,
        ),
    ),
    (
        "ID",
        re.compile(
            rf"\b{_NUMBERED}(?:[ \t]+(?:record|plan|beneficiary|member|holder|card|policy|group))?{_MARK}[ \t]*(?:is|was|:|=|\#)[ \t]*\#?[ \t]*({_CODE})(?!\w)",
            _I,
        ),
    ),
    (
        "ID",
        re.compile(rf"\b{_NUMBERED}\s*(?:no\.?|nr\.?|number|id|identifier|\#|sn|s/n)(?![A-Za-z])[ \t]*(?::|=|is|was)?[ \t]*\#?[ \t]*({_CODE})(?!\w)", _I),
    ),
    ("ID", re.compile(r"\b(?:MRN|SSN|NPI|DEA|VIN|UDI|IMEI|HICN|MBI|UHID|S/N|SN)\b[ \t]*[:#]?[ \t]*#?((?=[A-Z0-9-]*\d)[A-Z0-9][A-Z0-9-]{3,24})(?!\w)")),
    ("ID", re.compile(rf"\b{_NUMBERED}[ \t]+((?=[A-Z0-9-]*\d{{6}})[A-Z0-9][A-Z0-9-]{{5,24}})(?![\w.%/]|[ \t]?(?:x|×)\b)", _I)),
    ("ID", re.compile(r"(?<![\w-])(?=(?:[A-Z]*\d){5})(?=(?:\d*[A-Z]){3})[A-Z0-9]{10,20}(?![\w-])")),
    ("ID", re.compile(r"(?<![\w-])(?!ON|BP|HR)[A-Z]{2}(?:[ ]\d{2}){3}[ ][A-D](?![\w-])")),
    ("ID", re.compile(r"(?<![\w-])\d{3}[ .]\d{2}[ .]\d{4}(?![\w-])")),
    ("ID", re.compile(r"\b(?:ssn|social security)\D{0,24}?(\d{9}|\d{3}[ -]?\d{2}[ -]?\d{4})(?!\d)", _I)),
    ("ID", re.compile(r"(?<![\w.-])[A-Z]{1,3}-?\d{6,12}(?![\w-])")),
    ("ID", re.compile(r"(?<![\w.-])\d{1,4}-\d{4,}-\d{2,}(?![\w-])")),
    ("PHOTO", re.compile(r"(?<!\w)[\w-]+\.(?:jpe?g|png|tiff?|heic|gif|bmp|dcm|dicom|mp4|mov|wav)\b", _I)),
    ("PHONE", re.compile(r"(?<![\w.\-/])(?:\+?\d{1,3}[ .\-])?(?:\(\d{2,4}\)[ .\-]?|\d{3}[ .\-])\d{3}[ .\-]\d{4}(?:[ ]?(?:x|ext\.?)[ ]?\d{1,6})?(?![\w\-])", _I)),
    ("PHONE", re.compile(r"(?<![\w.\-/])[2-9]\d{9}(?![\w.])")),
    (
        "PHONE",
        re.compile(
            r"\b(?:call|phone|reach|text|messages?|contact|dial|ring|fax|office|mobile|desk|cell|answering|registered|telephone|tel)\b[^\d\n]{0,24}?"
            r"(\+?\(?(?:\d[ ().\-]{0,2}){7,15}(?<=\d))(?!\d)",
            _I,
        ),
    ),
    ("PHONE", re.compile(r"\b(?:voice ?mail|called|calls|calling|rang|texted)\b[^\d\n]{0,40}?(\d{3}[ -]\d{4})(?![\w-])", _I)),
    ("PHONE", re.compile(r"(?<![\w.\-/])00\d{2,3}[ \-]?(?:\d[ \-]?){6,11}(?![\w-])")),
    ("PHONE", re.compile(r"(?<![\w.\-/])\+\(?\d{1,3}\)?(?:[ .\-()/]{0,2}\d){6,13}(?![\w])")),
    ("PHONE", re.compile(r"\b(?:tel|telephone|phone|mobile|cell|fax|pager|beeper|ext(?:ension)?|home|work|contact)(?:[ \t]+(?:no\.?|number|phone|\#))?[ \t]*(?:is|at|:|\.|=|\#)?[ \t]*(\+?\(?\d(?:[ ().\-/x]{0,2}\d){5,15})(?!\d)", _I)),
    ("BIRTHDATE", re.compile(rf"\b(?:D\.?O\.?B\.?|date of birth|birth ?date|birthday|born(?: on)?|b\.)[ \t]*(?:is|was|:|=|-|on)?[ \t]*({_DATE})", _I)),
    (
        "DATE",
        re.compile(
            r"\b(?:date of death|died(?: on)?|deceased(?: on)?|DOD|date of (?:admission|discharge)|(?:admission|discharge|admit) date|admitted(?: on)?|"
            rf"discharged(?: on)?|DOA|wedding|anniversary)[ \t]*(?:is|was|:|=|-|on)?[ \t]*({_DATE})",
            _I,
        ),
    ),
    ("AGEOVER", re.compile(r"\b((?:9\d|1[01]\d))(?=[ \t-]*(?:year|yr|y/?o\b))", _I)),
    ("AGEOVER", re.compile(r"\b(?:aged?|age:|age is)[ \t]*(9\d|1[01]\d)\b", _I)),
    (
        "ADDRESS",
        re.compile(
            r"\b(?:address(?:[ \t]+(?:of|for)[ \t]+[^\n.]{1,30}?)?(?:[ \t]+(?:is|was|to)|[ \t]*:)|located at|liv(?:es?|ed|ing) (?:at|on)|resid(?:es?|ed|ing) (?:at|on)|"
            r"(?:ship|deliver|mail|send|post)(?:ed|s)?[^\n.]{0,30}? to)[ \t\n]*((?-i:\d{1,6}[A-Za-z]?[ \t]+[A-Z])[^\n.;]{2,70})",
            _I,
        ),
    ),
    (
        "ADDRESS",
        re.compile(
            r"(?<![\w.])\d{1,6}[ \t]+(?:[A-Za-zÀ-ž][\w'’.\-]*[ \t]+){1,5}(?:\d{1,5}[ \t]*)?[\n,]?[ \t]*(?:Apt|Apartment|Suite|Ste|Unit|Flat)\.?[ \t]*\#?[\w-]+"
        ),
    ),
    ("ADDRESS", re.compile(rf"(?<![\w.])\d{{1,6}}[A-Za-z]?(?:-\d+)?,?[ \t]+(?:[NSEW]\.?[ \t]+)?(?:[A-Z0-9][\w'’.\-]*[ \t]+){{1,4}}{_STREETS}\b\.?(?:,?[ \t]*(?:Apt|Apartment|Unit|Suite|Ste|Flat|Floor|Room|\#)\.?[ \t]*\#?[\w-]+)?(?:,?[ \t\n]*{_CITY},?[ \t]+{_STATES}(?:[ \t]+\d{{5}}(?:-\d{{4}})?)?)?")),
    ("ADDRESS", re.compile(rf"\b(?:in|from|at|near|to|of)[ \t]+((?=[A-Z][a-z]){_CITY},[ \t]+{_STATES}(?:,?[ \t]+\d{{5}}(?:-\d{{4}})?)?)(?!\w)")),
    ("ADDRESS", re.compile(rf"{_CITY},?[ \t]+{_STATES}[ \t]+\d{{5}}(?:-\d{{4}})?(?!\w)")),
    ("ADDRESS", re.compile(r"\b(?:P\.?[ ]?O\.?[ ]?Box|Post Office Box)[ \t]*\#?\d+(?:,[ \t]*[A-Z][\w ]+)?", _I)),
    ("ADDRESS", re.compile(r"(?<![\w])(?:GIR ?0AA|[A-PR-UWYZ][A-HK-Y]?\d[A-Z\d]?[ ]\d[ABD-HJLNP-UW-Z]{2})(?!\w)")),
    ("ADDRESS", re.compile(r"\b(?:zip|zip code|postcode|postal code)[ \t]*(?:is|:|=)?[ \t]*((?=[A-Z0-9 -]*\d)[A-Z0-9][A-Z0-9 -]{2,8}[A-Z0-9])", _I)),
    ("ADDRESS", re.compile(rf"\b(?:lives? (?:in|at)|living in|resid(?:es|ing|ent of)(?: in| at)?|(?:is|are|was|comes?|originally|visiting) from|moved to|born in|hometown(?: is|:)?)[ \t]+(?-i:({_CITY},[ \t]+[A-Z][a-zA-Z]+(?:[ \t][A-Z][a-z]+)?))", _I)),
    ("ADDRESS", re.compile(rf"\b(?:lives? in|living in|resid(?:es|ing) in|moved to|hometown(?: is|:)|city:|county:|town:)[ \t]*(?-i:({_CITY}))", _I)),
)  # fmt: skip
_CAPS = r"[A-ZÀ-ÖØ-Þ][\w'’.\-]*"
_DIRECTIONS = (
    r"(?:[Rr]ue|[Aa]venue|[Bb]oulevard|[Pp]lace|[Cc]hemin|Via|Viale|Vicolo|Piazza|Corso|Largo|Strada|Calle|C/|Avda\.?|Avenida|Av\.|Rua|R\.|Praça|"
    r"Travessa|[Uu]l\.|[Tt]rg|Carrer|Paseo|Plaza|Camino|Cours|Quai|Impasse|Platz|An der|Am|Im|Auf der|Zur)"
)
_ENDINGS = (
    r"(?:strasse|straße|str\.|katu|kuja|polku|gatan|gata|vägen|väg|vej|vejen|veien|vegen|gade|stræde|laan|straat|weg|platz|allee|gasse|gränd|plein|"
    r"gracht|kade|dreef|singel|braut|stígur|vænget|bakken|toften|parken|lunden|garden|ulica|utca|näs|backen|stigen|torget|tänav|tee)"
)
_MINOR = r"(?:d[eu]l?|des|l[ae]s?|l['’]|d['’]|dell[aeo]|degli|dei|do|da|dos|das|van|von|der|den|e|i|y|et|of|the|á|põik|tér|út|utca|útja|fejedelem|náměstí)"
_COUNTRIES = (
    r"(?:Afghanistan|Argentina|Australia|Austria|Belgium|Bolivia|Brazil|Bulgaria|Canada|Chile|China|Colombia|Croatia|Cuba|Cyprus(?: \(\w+\))?|Czech Republic|Denmark|"
    r"Egypt|Estonia|Finland|France|Germany|Ghana|Greece|Greenland(?:er)?|Hungary|Iceland|India|Indonesia|Iran|Iraq|Ireland|Israel|Italy|Japan|Kenya|Korea|Latvia|Lithuania|"
    r"Malaysia|Mexico|Morocco|Netherlands|New Zealand|Nigeria|Norway|Pakistan|Peru|Philippines|Poland|Portugal|Romania|Russia|Serbia|Singapore|"
    r"Slovakia|Slovenia|South Africa|Spain|Sweden|Switzerland|Thailand|Tunisia|Turkey|Ukraine|United Kingdom|Uruguay|Venezuela|Vietnam)"
)
_UNIT = r"(?:Apt|Apartment|Suite|Ste|Unit|Flat)\.?[ \t]*\#?\d[\w-]*"
_STEP = r"[ \t]*(?:,[ \t\n]*|\n[>? \t]*)"
_AFTER = (
    rf"(?:(?:{_STEP}|[ \t]+){_UNIT})*(?:{_STEP}{_CAPS}(?:[ \t]+(?:{_CAPS}|{_MINOR}))"
    r"{0,3})?"
    rf"(?:{_STEP}(?:{_COUNTRIES}|[A-Z]{{2}}))?(?:[ \t\n]+[>? \t]*\d{{4,6}}(?!\w))?"
)
_ABROAD: tuple[re.Pattern[str], ...] = (
    # A way named before ("rue ...") or in one word with its kind ("...gatan"), and its number.
    re.compile(rf"(?<![\w.])(?:\d{{1,6}}[ \t]+){{0,2}}{_DIRECTIONS}[ \t]?(?:{_MINOR}[ \t]?){{0,3}}{_CAPS}(?:[ \t]+(?:{_MINOR}|{_CAPS})){{0,4}}[ \t]+\d{{1,4}}[A-Za-z]?(?![\w%/]){_AFTER}"),
    re.compile(rf"(?<![\w.])(?:\d{{1,6}}[ \t]+){{1,2}}{_DIRECTIONS}[ \t]?(?:{_MINOR}[ \t]?){{0,3}}{_CAPS}(?:[ \t]+(?:{_MINOR}|{_CAPS})){{0,4}}{_AFTER}"),
    re.compile(rf"(?<![\w.])(?:\d{{1,6}}[ \t]+){{0,2}}[A-ZÀ-ÖØ-Þ][^\W\d_]+{_ENDINGS}[ \t]+\d{{1,4}}[A-Za-z]?(?![\w%/]){_AFTER}"),
    # A number, a name and a flat: an address in any language.
    re.compile(rf"(?<![\w.])\d{{1,6}}[ \t]+(?:(?:{_CAPS}|{_MINOR}|\d{{1,4}})[ \t]+){{0,6}}(?:{_CAPS}|\d{{1,4}})\.?(?:{_STEP}|[ \t]+){_UNIT}{_AFTER}"),
    # A number of three or more digits, a name and a number alone on a line, or before a town.
    re.compile(rf"(?:(?<=\n)|(?<=[>?] )|(?<=>)|(?<=\bat )|(?<=\bis )|(?<=address: ))\d{{3,6}}[ \t]+{_CAPS}(?:[ \t]+(?:{_CAPS}|{_MINOR})){{0,4}}[ \t]+\d{{1,4}}\.?(?=[ \t]*(?:\n|,[ \t]*[A-Z])){_AFTER}"),
    re.compile(rf"(?<![\w.])\d{{3,6}}[ \t]+\d{{1,5}}[A-Z]?[ \t]+{_CAPS}(?:[ \t]+(?:{_CAPS}|{_MINOR})){{0,3}}(?=[ \t]*(?:\n|,[ \t]*[A-Z]|\Z)){_AFTER}"),
    re.compile(r"\b(?:PSC|CMR)[ ]\d{1,5},?[ ]Box[ ]\d{1,5}(?:\s+(?:APO|FPO|DPO),?[ ]A[AEP](?:[ ]\d{5})?)?"),
    re.compile(r"\b(?:(?:USS|USNS|USNV|USCGC)[ ][\w.'’\-]+\s+)?(?:APO|FPO|DPO),?[ ]A[AEP][ ]\d{5}(?!\d)", _I),
    re.compile(rf"\bcorner of ({_CAPS}|\d)[^\n.,;]{{2,60}}? and {_CAPS}(?:[ \t]+(?:{_CAPS}|{_MINOR})){{0,3}}"),
    re.compile(rf"(?:(?<=\n)|(?<=\n )|(?<=>)|(?<=[>?] )|(?<=, )){_COUNTRIES}[ \t]+\d{{4,6}}(?!\w)"),
)  # fmt: skip
_LUHN = 10


def more_shapes(text: str) -> Iterator[tuple[int, int, str]]:
    """Identifiers as (start, end, kind); they may overlap."""
    for kind, pattern in _SHAPES:
        group = 1 if pattern.groups else 0
        for match in pattern.finditer(text):
            start, end = match.span(group)
            if start < 0 or (kind == "CARD" and not _card(text[start:end])):
                continue
            if is_figure(text, start, end, kind):
                continue
            yield start, end, kind
    yield from addresses_abroad(text)
    yield from written_shapes(text)


def addresses_abroad(text: str) -> Iterator[tuple[int, int, str]]:
    """Addresses whose streets are named otherwise than in English, and those of military mail."""
    for pattern in _ABROAD:
        for match in pattern.finditer(text):
            yield match.start(), match.end(), "ADDRESS"


def _card(text: str) -> bool:
    """Do the digits have a card's length, and its check digit or its groups of four?"""
    digits = [int(char) for char in text if char.isdigit()]
    if not 12 <= len(digits) <= 19:  # noqa: PLR2004 - lengths of cards
        return False
    total = 0
    for index, digit in enumerate(reversed(digits)):
        doubled = digit * 2 if index % 2 else digit
        total += doubled - 9 if doubled > 9 else doubled  # noqa: PLR2004 - the digit sum
    return total % _LUHN == 0 or len(digits) >= 15  # noqa: PLR2004 - no figure of a note is so long
