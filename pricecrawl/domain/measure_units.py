"""Units of mass, volume and count as they stand on packs, in the scripts that shops write.

Metric units fold into `g` and `ml`, the base units; customary units keep their name and know their base
factor. Where the United States and Britain use one word for two volumes, the locale decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

_GRAM_PER_LB = Decimal("453.59237")
_ML_PER_US_FL_OZ = Decimal("29.5735295625")
_ML_PER_UK_FL_OZ = Decimal("28.4130625")


@dataclass(frozen=True, slots=True)
class Unit:
    """`name` is what a size is given in, `scale` how many of it one written unit is, `base` g, ml or each.

    `factor` is how many base units one `name` is; `tiny` marks milligrams and their like, which more
    often say how strong a thing is than how much of it there is; `big` units are written with fractions
    (`0,750 l`).
    """

    name: str
    base: str
    scale: Decimal = Decimal(1)
    factor: Decimal = Decimal(1)
    tiny: bool = False
    big: bool = False


# Unit | base | how many of it one written unit is | traits | names. A line without bars goes on.
_WRITTEN = """
g | g | 0.000001 | tiny | µg mcg μg
g | g | 0.001 | tiny | mg мг 毫克 ミリグラム 밀리그램 ملغ ملجم מ"ג มก มิลลิกรัม milligram milligrams
g | g | 1 | | g gr grs gm gms gram grams gramm gramme grammes gramo gramos grammi grammo grama gramas г гр
    грамм граммов 克 公克 グラム 그램 그람 جم غ غرام جرام غم غرامًا גרם ג' ג גר' γρ γραμμάρια กรัม ก ग्राम
g | g | 1000 | big | kg kgs kilo kilos kilogram kilograms kilogramm kilogrammes kilogramos кг килограмм
    公斤 千克 キログラム キロ 킬로그램 킬로 كجم كغ كغم كيلو كيلوجرام ק"ג קג קילו κιλά κιλό κιλο กก
    กิโลกรัม किलो किग्रा
g | g | 10 | | dag deka
g | g | 100 | | hg
g | g | 500 | big | 斤 市斤
ml | ml | 1 | | ml mls millilitre millilitres milliliter milliliters mililitros millilitri cc ccm мл
    миллилитров 毫升 ミリリットル 밀리리터 مل ملل مليلتر מ"ל מל มล มิลลิลิตร मिली
ml | ml | 10 | | cl cls centilitre centilitres centiliter сл кл
ml | ml | 100 | | dl dcl décilitre deciliter дл デシリットル
ml | ml | 1000 | big | l lt ltr ltrs litre litres liter liters litro litros litri litr litrów л литр литра
    литров 升 公升 リットル 리터 لتر ل ליטר ל' λίτρο λίτρα λιτ ลิตร लीटर
oz | g | 1 | | oz ozs ounce ounces onza onzas unze unzen unce uncja
lb | g | 1 | | lb lbs pound pounds libra libras
fl_oz | ml | 1 | | floz fl_oz ozfl
pt | ml | 1 | big | pt pint pints
qt | ml | 1 | big | qt quart quarts
gal | ml | 1 | big | gal gallon gallons
each | each | 1 | | ea each ct count pc pcs pce piece pieces unit units stück stk pièce pièces unité
    unités unidad unidades uds ud pezzi pezzo pz stuks szt sztuk ks kus kusů db шт штук 個 个 枚 個入 개
    قطعة קטע יחידות τεμ τεμάχια ชิ้น adet tablet tablets tabs tab tablette tabletten comprimés capsule
    capsules caps kapseln kaps softgels gummies sachets teabags bags beutel lozenges wipes таблеток капсул
    pastillas
"""

_FACTORS = {
    "oz": _GRAM_PER_LB / 16,
    "lb": _GRAM_PER_LB,
    "fl_oz": _ML_PER_US_FL_OZ,
    "pt": _ML_PER_US_FL_OZ * 16,
    "qt": _ML_PER_US_FL_OZ * 32,
    "gal": _ML_PER_US_FL_OZ * 128,
}

_UK = {
    "fl_oz": Unit("fl_oz", "ml", factor=_ML_PER_UK_FL_OZ),
    "pt": Unit("pt", "ml", factor=_ML_PER_UK_FL_OZ * 20, big=True),
    "qt": Unit("qt", "ml", factor=_ML_PER_UK_FL_OZ * 40, big=True),
    "gal": Unit("gal", "ml", factor=_ML_PER_UK_FL_OZ * 160, big=True),
}


def _read_table() -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    unit = Unit("g", "g")
    for line in _WRITTEN.strip().split("\n"):
        names = line
        if "|" in line:
            name, base, scale, traits, names = (part.strip() for part in line.split("|"))
            factor = _FACTORS.get(name, Decimal(1))
            unit = Unit(name, base, Decimal(scale), factor, tiny="tiny" in traits, big="big" in traits)
        for written in names.split():
            units.setdefault(written, unit)
    return units


UNITS = _read_table()

PATTERN = (
    r"(?:fl(?:uid)?[.\s-]{0,2}(?:ounces?|ozs?)\.?|"
    + "|".join(re.escape(name) for name in sorted(UNITS, key=len, reverse=True))
    + r")\.?"
)
"""Alternatives of one unit, longest first; a boundary after it is the caller's to check."""

MEASURED = "|".join(re.escape(n) for n in sorted(UNITS, key=len, reverse=True) if UNITS[n].base != "each")
"""Alternatives of the units of mass and volume alone."""


def unit_of(written: str, *, british: bool = False) -> Unit | None:
    """The unit that a text matched by `PATTERN` names."""
    key = re.sub(r"\s", "", written.casefold())
    if key.startswith("fl") and "o" in key:
        key = "floz"
    unit = UNITS.get(key) or UNITS.get(key.rstrip("."))
    if unit is not None and british:
        return _UK.get(unit.name, unit)
    return unit
