"""Identifiers by program, in the formats in which people write them, set into notes."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

from bedside.core.value import value

__all__ = ["KINDS", "Planted", "plant"]


@value
class Planted:
    """One identifier at `[start, end)` of the text that it was set into.

    `known_as` is the name that the record holds, "" where the record knows nothing of it.
    """

    kind: str
    format: str
    start: int
    end: int
    surface: str
    known_as: str = ""


_FIRST = [
    "Aaliyah",
    "Abdul",
    "Adaeze",
    "Agnieszka",
    "Ahmed",
    "Aisha",
    "Alejandro",
    "Amara",
    "Ananya",
    "Anders",
    "Andreea",
    "Aoife",
    "Beatriz",
    "Bogdan",
    "Brigitte",
    "Camille",
    "Carlos",
    "Chidi",
    "Chiara",
    "Dafydd",
    "Daniela",
    "Deepak",
    "Dimitra",
    "Ebony",
    "Eero",
    "Efua",
    "Ekaterina",
    "Emeka",
    "Esperanza",
    "Fatima",
    "Fergus",
    "Fiona",
    "Freya",
    "Gareth",
    "Giorgos",
    "Gloria",
    "Hamid",
    "Hannah",
    "Haruki",
    "Hyun-woo",
    "Ibrahim",
    "Ingrid",
    "Isabel",
    "Jagdish",
    "Jamal",
    "Jerome",
    "Jia",
    "Joaquin",
    "Kamala",
    "Kateryna",
    "Kenji",
    "Kwame",
    "Lakshmi",
    "Latoya",
    "Leila",
    "Liam",
    "Luca",
    "Magdalena",
    "Mariana",
    "Mateusz",
    "Mei",
    "Mohammed",
    "Nadia",
    "Naveen",
    "Ngozi",
    "Nikolai",
    "Nomvula",
    "Oluwaseun",
    "Oscar",
    "Padma",
    "Patricia",
    "Pedro",
    "Priya",
    "Quentin",
    "Rachel",
    "Rahul",
    "Rosalind",
    "Ruth",
    "Saoirse",
    "Sergei",
    "Shanice",
    "Siobhan",
    "Soo-jin",
    "Stefan",
    "Svetlana",
    "Tariq",
    "Thandiwe",
    "Tomasz",
    "Uma",
    "Valentina",
    "Vikram",
    "Wanjiru",
    "Xiomara",
    "Yara",
    "Yusuf",
    "Zainab",
    "Zoe",
    "Anne-Marie",
    "Jean-Luc",
    "Robert",
    "Jennifer",
    "Michael",
    "Linda",
    "William",
    "Barbara",
    "Thomas",
    "Susan",
    "Charles",
    "Margaret",
    "Kevin",
    "Donna",
]
_LAST = [
    "Abernathy",
    "Achebe",
    "Adebayo",
    "Agarwal",
    "Al-Sayed",
    "Andersson",
    "Banerjee",
    "Bianchi",
    "Blackwood",
    "Boateng",
    "Bukowski",
    "Castellanos",
    "Chaudhry",
    "Cheng",
    "Chukwu",
    "Costa",
    "Delacroix",
    "Deshpande",
    "Diaz",
    "Dlamini",
    "Dragomir",
    "Dvorak",
    "Eriksen",
    "Fairweather",
    "Ferrari",
    "Fitzgerald",
    "Fofanah",
    "Fukuda",
    "Gallagher",
    "Garcia-Lopez",
    "Ghosh",
    "Goldberg",
    "Gonzalez",
    "Gupta",
    "Haddad",
    "Hakimi",
    "Hernandez",
    "Hoang",
    "Horvath",
    "Ishikawa",
    "Iwu",
    "Jankowski",
    "Jimenez",
    "Johansson",
    "Kamau",
    "Kapoor",
    "Karimi",
    "Kowalczyk",
    "Krishnamurthy",
    "Kuznetsov",
    "Lindqvist",
    "Lopez",
    "MacDonald",
    "Maciel",
    "Mahlangu",
    "Marchetti",
    "McAllister",
    "Mendoza",
    "Mishra",
    "Moreau",
    "Mukherjee",
    "Murakami",
    "Nakamura",
    "Ndiaye",
    "Nguyen",
    "Novak",
    "O'Brien",
    "O'Connell",
    "Obi",
    "Okafor",
    "Okonkwo",
    "Olivares",
    "Ortega",
    "Osei",
    "Papadopoulos",
    "Patel",
    "Pereira",
    "Petrovic",
    "Quiroga",
    "Rahman",
    "Ramirez",
    "Reddy",
    "Rodrigues",
    "Rossi",
    "Saito",
    "Sandoval",
    "Schneider",
    "Sengupta",
    "Shapiro",
    "Silva",
    "Sokolov",
    "Stavros",
    "Strickland",
    "Takahashi",
    "Tesfaye",
    "Thibodeaux",
    "Tiwari",
    "Tran",
    "Uzoma",
    "Vasquez",
    "Venkataraman",
    "Vogel",
    "Wallace-Reid",
    "Whitfield",
    "Wojcik",
    "Yamamoto",
    "Yilmaz",
    "Zabala",
    "Zhang",
    "Zimmerman",
    "Smith",
    "Johnson",
    "Williams",
    "Garcia",
    "Davis",
    "Miller",
]
_STREETS = ["Maple", "Oakwood", "Cedar", "Juniper", "Lakeview", "Sunnyside", "Birchwood", "Hawthorne", "Chestnut", "Willow", "Prospect", "Franklin", "Lincoln", "Magnolia", "Riverside"]  # fmt: skip
_ENDS = [
    "Street",
    "Avenue",
    "Road",
    "Lane",
    "Drive",
    "Court",
    "Boulevard",
    "St",
    "Ave",
    "Rd",
    "Ln",
    "Blvd",
    "Way",
    "Place",
    "Terrace",
    "Circle",
]
_CITIES = ["Springfield,IL", "Madison,WI", "Fresno,CA", "Tulsa,OK", "Albany,NY", "Boulder,CO", "Tacoma,WA", "Savannah,GA", "Duluth,MN", "El_Paso,TX", "New_Haven,CT", "Santa_Fe,NM"]  # fmt: skip
_DOMAINS = (
    "example.com",
    "mailbox.org",
    "clinicmail.net",
    "proton.me",
    "nhs.net",
    "university.edu",
    "post.co.uk",
)
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]

Made = tuple[str, str, str, str]
"""(format, words before, identifier, words after)"""


def _digits(rng: random.Random, n: int) -> str:
    return "".join(rng.choice("0123456789") for _ in range(n))


def _nonzero(rng: random.Random, n: int) -> str:
    return rng.choice("23456789") + _digits(rng, n - 1)


def _letters(rng: random.Random, n: int) -> str:
    return "".join(rng.choice("ABCDEFGHJKLMNPRSTUVWXYZ") for _ in range(n))


def _name(rng: random.Random) -> tuple[str, str]:
    return rng.choice(_FIRST), rng.choice(_LAST)


def _person(rng: random.Random) -> Made:
    first, last = _name(rng)
    age = rng.randint(18, 89)
    return rng.choice(
        [
            ("First Last is a N-year-old", "", f"{first} {last}", f" is a {age}-year-old patient."),
            (
                "Title Last",
                f"{rng.choice(['Mr.', 'Mrs.', 'Ms.', 'Dr.', 'Mr', 'Miss'])} ",
                last,
                " was seen today.",
            ),
            ("Title First Last", "Discussed with Dr. ", f"{first} {last}", " by phone."),
            ("Patient: Last, First", "Patient: ", f"{last}, {first}", ""),
            (
                "Patient name: First M. Last",
                "Patient name: ",
                f"{first} {rng.choice('ABCDEFGHJKLM')}. {last}",
                "",
            ),
            ("Name: FIRST LAST", "Name: ", f"{first} {last}".upper(), ""),
            (
                "kin First",
                f"Her {rng.choice(['daughter', 'husband', 'sister', 'son'])} ",
                first,
                " drove her here.",
            ),
            (
                "kin, First Last,",
                f"His {rng.choice(['wife', 'brother', 'mother'])}, ",
                f"{first} {last}",
                ", agrees.",
            ),
            ("First Last, MD", "Dictated by ", f"{first} {last}", ", MD"),
            ("Signed: First Last", "Electronically signed by: ", f"{first} {last}", ""),
            ("Emergency contact: First Last", "Emergency contact: ", f"{first} {last}", ""),
        ]
    )


def _phone(rng: random.Random, lead: str) -> Made:
    a, b, c = _nonzero(rng, 3), _nonzero(rng, 3), _digits(rng, 4)
    forms = {
        "(ddd) ddd-dddd": f"({a}) {b}-{c}",
        "ddd-ddd-dddd": f"{a}-{b}-{c}",
        "ddd.ddd.dddd": f"{a}.{b}.{c}",
        "ddd ddd dddd": f"{a} {b} {c}",
        "+1 ddd ddd dddd": f"+1 {a} {b} {c}",
        "dddddddddd": f"{a}{b}{c}",
        "+44 dddd dddddd": f"+44 {_nonzero(rng, 4)} {_digits(rng, 6)}",
    }
    form = rng.choice(sorted(forms))
    return form, f"{lead}: ", forms[form], ""


def _dates(rng: random.Random) -> str:
    y, m, d = rng.randint(1931, 2024), rng.randint(1, 12), rng.randint(1, 28)
    month = _MONTHS[m - 1]
    return rng.choice(
        [
            f"{m}/{d}/{y}", f"{m:02}/{d:02}/{y}", f"{d:02}-{m:02}-{y}", f"{y}-{m:02}-{d:02}", f"{month} {d}, {y}",
            f"{d} {month} {y}", f"{month[:3]} {d} {y}", f"{d} {month[:3]} {y}", f"{m}/{d}/{y % 100:02}",
        ]
    )  # fmt: skip


def _date(rng: random.Random) -> Made:
    lead = rng.choice(
        ["DOB: ", "Date of birth: ", "Born on ", "DOB ", "Date of death: ", "Date of admission: ", "Discharge date: ", "Admitted on ", "Birthdate: "]
    )  # fmt: skip
    return lead.strip(" :"), lead, _dates(rng), ""


def _address(rng: random.Random) -> Made:
    street = f"{rng.randint(1, 9999)} {rng.choice(_STREETS)} {rng.choice(_ENDS)}"
    city, state = rng.choice(_CITIES).replace("_", " ").split(",")
    zip_code = _nonzero(rng, 5)
    return rng.choice(
        [
            ("street", "Lives at ", street, " with family."),
            ("street, city, state zip", "Address: ", f"{street}, {city}, {state} {zip_code}", ""),
            (
                "street apt, city state",
                "Home: ",
                f"{street} Apt {rng.randint(1, 99)}, {city}, {state}",
                "",
            ),
            ("city, state zip", "Mail to ", f"{city}, {state} {zip_code}", ""),
            ("lives in city", "She lives in ", city, " with her family."),
            ("PO box", "Bills go to ", f"P.O. Box {rng.randint(10, 99999)}", ""),
            ("zip", "Zip code: ", zip_code, ""),
            ("zip+4", f"Seen in {city}, {state} ", f"{zip_code}-{_digits(rng, 4)}", ""),
        ]
    )


def _email(rng: random.Random) -> Made:
    first, last = (part.lower().replace("'", "") for part in _name(rng))
    sign = rng.choice([".", "_", "", "-"])
    return (
        "email",
        "Contact at ",
        f"{first}{sign}{last}{rng.randint(1, 99)}@{rng.choice(_DOMAINS)}",
        "",
    )


def _ssn(rng: random.Random) -> Made:
    a, b, c = _nonzero(rng, 3), _nonzero(rng, 2), _digits(rng, 4)
    return rng.choice(
        [
            ("ddd-dd-dddd", "SSN ", f"{a}-{b}-{c}", ""),
            ("ddd dd dddd", "SSN: ", f"{a} {b} {c}", ""),
            ("ddddddddd", "Social security number ", f"{a}{b}{c}", ""),
            ("bare ddd-dd-dddd", "On file ", f"{a}-{b}-{c}", ""),
        ]
    )


def _labelled(*leads: str, make: Callable[[random.Random], str]) -> Callable[[random.Random], Made]:
    def made(rng: random.Random) -> Made:
        lead = rng.choice(leads)
        return lead.strip(" :#"), lead, make(rng), ""

    return made


def _mixed(rng: random.Random) -> str:
    return rng.choice(
        [_digits(rng, 7), _digits(rng, 10), f"{_letters(rng, 2)}{_digits(rng, 6)}", f"{_letters(rng, 3)}-{_digits(rng, 5)}",
         f"{_digits(rng, 4)}-{_digits(rng, 4)}", f"{_letters(rng, 1)}{_digits(rng, 8)}"]
    )  # fmt: skip


def _web(rng: random.Random) -> Made:
    last = rng.choice(_LAST).lower().replace("'", "")
    return rng.choice(
        [
            ("https", "See ", f"https://www.{last}-family.com/photos/{_digits(rng, 3)}", ""),
            ("www", "Page: ", f"www.{last}blog.net", ""),
            ("http query", "Portal ", f"http://portal.example.org/p?id={_digits(rng, 6)}", ""),
            ("bare domain", "Website ", f"{last}.co.uk", ""),
        ]
    )


def _ip(rng: random.Random) -> Made:
    four = ".".join(str(rng.randint(1, 254)) for _ in range(4))
    six = ":".join(f"{rng.randint(4096, 65535):x}" for _ in range(8))
    return rng.choice([("v4", "Logged in from ", four, ""), ("v6", "Logged in from ", six, "")])


def _vehicle(rng: random.Random) -> Made:
    vin = "".join(rng.choice("ABCDEFGHJKLMNPRSTUVWXYZ0123456789") for _ in range(11)) + _digits(
        rng, 6
    )
    return rng.choice(
        [
            ("VIN", "VIN ", f"1H{vin[2:]}", ""),
            ("plate", "License plate ", f"{_letters(rng, 3)} {_digits(rng, 4)}", ""),
            (
                "plate no blank",
                "Plate number: ",
                f"{_digits(rng, 1)}{_letters(rng, 3)}{_digits(rng, 3)}",
                "",
            ),
        ]
    )


def _other(rng: random.Random) -> Made:
    return rng.choice(
        [
            ("study id", "Study ID: ", f"{_letters(rng, 3)}-{_digits(rng, 4)}", ""),
            ("accession", "Accession number: ", f"S{_digits(rng, 2)}-{_digits(rng, 5)}", ""),
            ("passport", "Passport no. ", f"{_letters(rng, 1)}{_digits(rng, 8)}", ""),
            ("uuid", "Ref ", "-".join(_hex(rng, n) for n in (8, 4, 4, 4, 12)), ""),
            ("age over 89", "The patient is a ", str(rng.randint(90, 104)), "-year-old retiree."),
        ]
    )


def _hex(rng: random.Random, n: int) -> str:
    return "".join(rng.choice("0123456789abcdef") for _ in range(n))


def _card(rng: random.Random) -> str:
    return rng.choice([" ", "-", ""]).join(
        [f"4{_digits(rng, 3)}", *(_digits(rng, 4) for _ in range(3))]
    )


def _photo(rng: random.Random) -> str:
    return f"{rng.choice(_LAST).lower().replace(chr(39), '')}_face_{_digits(rng, 3)}.{rng.choice(['jpg', 'png', 'heic', 'dcm'])}"


KINDS: Mapping[str, Callable[[random.Random], Made]] = {
    "name, unknown to the record": _person,
    "geographic": _address,
    "date with a label": _date,
    "telephone": lambda rng: _phone(rng, rng.choice(["Phone", "Tel", "Mobile", "Call her at", "Cell"])),
    "fax": lambda rng: _phone(rng, rng.choice(["Fax", "Fax number", "FAX"])),
    "email": _email,
    "social security": _ssn,
    "medical record": _labelled("MRN: ", "MRN ", "Medical record number: ", "Chart #", "Hospital no. ", "Patient ID: ", make=_mixed),
    "health plan": _labelled("Member ID: ", "Policy number: ", "Subscriber ID ", "Medicare number: ", "Insurance ID: ", "Group #: ", make=_mixed),
    "account": _labelled("Account number: ", "Acct #", "Billing account: ", "Invoice no. ", make=_mixed),
    "certificate or licence": _labelled("License number: ", "Driver's license ", "DEA number ", "NPI: ", "Certificate no. ", make=lambda rng: f"{_letters(rng, 2)}{_digits(rng, 7)}"),
    "vehicle": _vehicle,
    "device": _labelled("Device serial number: ", "Serial no. ", "Pacemaker serial ", "UDI: ", "Lot number ", make=lambda rng: f"{_letters(rng, 2)}{_digits(rng, 8)}"),
    "web address": _web,
    "internet address": _ip,
    "biometric": _labelled("Fingerprint ID: ", "Biometric code: ", "Voiceprint ID ", make=_mixed),
    "photograph": _labelled("Photo: ", "Face image ", "See ", make=_photo),
    "other unique number": _other,
    "card": _labelled("Card ", "Paid with ", "Credit card: ", make=_card),
}  # fmt: skip
"""The eighteen kinds of the safe harbour (telephone and fax apart, cards beside accounts)."""

_KNOWN = (
    "{}",
    "Mr {}",
    "talked to {}",
    "{} asked about it",
    "({})",
    "{}'s results",
    "note for {}:",
)


def plant(
    note: str,
    rng: random.Random,
    *,
    kinds: Mapping[str, Callable[[random.Random], Made]],
    each: int,
) -> tuple[str, list[Planted]]:
    """Set `each` identifiers of random kinds, and three forms of one known name, into a note.

    Returns:
        The text, and what was planted, in order of place.
    """
    lines = note.split("\n")
    made: list[tuple[str, str, str, str, str, str]] = []
    for _ in range(each):
        kind = rng.choice(sorted(kinds))
        form, before, surface, after = kinds[kind](rng)
        made.append((kind, form, before, surface, after, ""))
    first, last = _name(rng)
    whole = f"{first} {last}"
    for surface in (whole, last if len(last) > 2 else whole, whole.upper()):
        before, after = rng.choice(_KNOWN).split("{}")
        made.append(("name, known from the record", "any", before, surface, after, whole))
    rng.shuffle(made)
    places: Sequence[int] = sorted(rng.randint(0, len(lines)) for _ in made)
    text, planted, last_line = "", [], 0
    for place, (kind, form, before, surface, after, known) in zip(places, made, strict=True):
        for line in lines[last_line:place]:
            text += line + "\n"
        last_line = place
        start = len(text) + len(before)
        text += f"{before}{surface}{after}\n"
        planted.append(
            Planted(
                kind=kind,
                format=form,
                start=start,
                end=start + len(surface),
                surface=surface,
                known_as=known,
            )
        )
    text += "\n".join(lines[last_line:])
    return text, planted
