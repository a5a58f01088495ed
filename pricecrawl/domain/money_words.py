"""Words that shops of some thirty languages put beside an amount, by what they make of it.

One label a line or between bars; blanks and punctuation inside a label do not matter, case neither.
"""

from __future__ import annotations

NOW = """
now | now only | sale price | sale | deal price | special price | special | offer price | our price
your price | promo price | today | jetzt | jetzt nur | nur | aktionspreis | angebotspreis | sonderpreis
neuer preis | maintenant | prix promo | prix soldé | ahora | precio oferta | oferta | adesso
prezzo scontato | ora | agora | por apenas | nu | nu voor | voor | actieprijs | nå | nyt | nyní
akční cena | teraz | cena promocyjna | promocja | acum | akciós ár | сейчас | теперь | цена со скидкой
по акции | зараз | şimdi | indirimli fiyat | 今だけ | 現在 | セール価格 | 特価 | 现价 | 促销价 | 特價
优惠价 | 할인가 | 판매가 | الآن | עכשיו | במבצע | τώρα | erikoishinta | kampanjpris | tilbud
tilbudspris | reapris | rea
"""

BEFORE = """
list | prix de vente conseillé | was | were | before | previously | old price | original price
originally | orig | list price | rrp | r.r.p | srp | msrp | m.s.r.p | mrp | m.r.p | compare at
compare at price | instead of | typical price | usually | full price | statt | bisher | vorher
früher | alter preis | uvp | uvp des herstellers | unverbindliche preisempfehlung | ursprünglich
streichpreis | listenpreis | niedrigster preis | avant | au lieu de | prix barré | prix conseillé
ancien prix | antes | precio anterior | pvpr | prima | prezzo consigliato | prezzo precedente
anziché | anzichè | invece di | was voor | adviesprijs | tidligere | før | førpris | tidigare
ord pris | ord | rek pris | ovh | původní cena | původně | před slevou | dříve | pôvodná cena
pred zľavou | przed | najniższa cena | stara cena | preț vechi | prp | eredeti ár | régi ár | было
раньше | старая цена | цена без скидки | була | стара ціна | eski fiyat | liste fiyatı | 定価 | 希望小売価格
ราคาปกติ | giá gốc | harga normal | harga asal | 原价 | 原價 | 市场价 | 建議售價 | high street price
high street | domestic price | downtown price | local market price | 정가 | 원가 | قبل | كان
السعر السابق | במקום | πριν | αρχική τιμή | π.λ.τ
"""

USUAL = """
original | regular price | reg | regular | retail price | retail | normal price | usual price | normalpreis
regulärer preis | prix habituel | prix normal | precio habitual | precio normal | prezzo normale
preço normal | normale prijs | ordinarie pris | normalpris | normaalihinta | běžná cena | bežná cena
cena regularna | preț normal | обычная цена | звичайна ціна | normal fiyat | 通常価格 | 정상가
"""

FROM = """
from | starting at | starts at | starting from | as low as | starting | min price | lowest price | ab
schon ab | bereits ab | à partir de | a partir de | dès | desde | da | a partire da | vanaf | från | fra
od | již od | už od | от | від | alkaen | από | αρχική από | de la | începând de la | başlayan | mulai
mulai dari | từ | من | ابتداء من | החל מ | ราคาเริ่มต้น | เริ่มต้น
"""

SAVING = """
save | you save | saving | savings | saved | discount | off | rabatt | sie sparen | du sparst
ersparnis | sparen | spare | spar | économisez | économie | remise | réduction | ahorra | ahorras
ahorro | descuento | dto | risparmi | risparmio | sconto | desconto | economize | poupe
je bespaart | korting | bespaar | voordeel | du sparar | säästä | säästät | ušetříte | sleva
ušetríte | zľava | oszczędzasz | zniżka | rabat | reducere | megtakarítás | kedvezmény | скидка
экономия | выгода | знижка | економія | indirim | 割引 | ประหยัด | ส่วนลด | ลดเพิ่ม | tiết kiệm | giảm
hemat | diskon | jimat | お得 | 节省 | 立减 | 優惠 | 할인 | 적립 | وفر | خصم | הנחה | έκπτωση | cashback
cash back | coupon | gutschein | voucher | bonus | points | deposit | pfand | cheaper by | less by
taniej o | levněji o | billiger um | moins cher de | más barato por | consigne | statiegeld | pant
dont | davon | of which | écotaxe | éco participation
"""

SHIPPING = """
shipping | free shipping | delivery | free delivery | postage | p&p | shipping on orders
orders over | orders above | orders of | on orders | order over | spend | spend over
when you spend | minimum order | min order | minimum spend | over | versand | versandkosten
versandkostenfrei ab | lieferung | lieferkosten | zzgl | porto | livraison | frais de port
livraison gratuite | livraison gratuite dès | envío | envíos | gastos de envío | spedizione
spese di spedizione | frete | verzending | verzendkosten | bezorging | frakt | leverans | levering
fragt | toimitus | doprava | poštovné | dostawa | wysyłka | livrare | szállítás | доставка
доставки | мин | минимальный заказ | мінімальне | kargo | 配送料 | 送料 | ค่าส่ง | ค่าจัดส่ง | ส่งฟรี
phí vận chuyển | ongkir | ongkos kirim | 运费 | 運費 | 배송비 | التوصيل | الشحن | משלוח | μεταφορικά
invest | worth
"""

INSTALMENT = """
per month | monthly | instalments | installments | instalment | installment | payments of
payment of | interest free | klarna | afterpay | clearpay | affirm | raten | rate | monatlich
mensualités | mensuel | cuotas | cuotas de | mensualidades | rate da | parcelas | parcelas de
termijnen | avbetalning | delbetalning | splátka | splátky | raty | rata | rate de | рассрочка
в рассрочку | в кредит | на виплат | оплата частями | ผ่อน | cicilan | trả góp | в месяц | на месяц
taksit | 分割 | 月々 | 分期 | 할부 | قسط | أقساط | תשלומים | δόσεις
"""

MEMBER = """
member price | members price | members only | for members | club price | clubcard price | clubcard
loyalty price | with card | mit karte | mitgliederpreis | mitgliedspreis | für mitglieder
prix adhérent | prix membre | precio socio | precio socios | prezzo soci | prezzo socio | ledenprijs
medlemspris | jäsenhinta | klubová cena | cena klubowa | cena dla klubowiczów | по карте | с картой
цена по карте | 会员价 | 會員價 | 会員価格 | 회원가 | سعر الأعضاء
"""

UNIT = """
unit price | price per | per unit | per kg | per litre | per liter | grundpreis | prix au kilo
prix au litre | prezzo al kg | jämförpris | enhetspris | kilopris | literpris | jednotková cena
cena jednostkowa | egységár | цена за | cena za | preço por | precio por | 単価 | 单价 | 단가
"""

NOT_MONEY = """
buy | get | any | sku | ean | gtin | upc | isbn | art nr | artikelnummer | art | item | item no
item number | model | ref | réf | mpn | asin | code | no | nr | артикул | код | код товара | kód | kod
referencia | codice | 品番 | 型号 | 货号 | qty | quantity | pack of | set of | box of | case of | menge
anzahl | quantité | cantidad | quantità | aantal | antal | množství | ilość | количество | rating
rated | bewertung | note | valoración | reviews | stock | in stock | spf | abv | alc | vol | size
größe | taille | talla | page | seite | step | since | seit | depuis | age | aged | no older than
hodnocení | ocena | оценка | рейтинг
"""

MONTH = """
month | months | mo | mth | monat | mtl | monatlich | mois | mes | mese | mês | maand | mnd | månad
mån | måned | kk | měsíc | měs | mesiac | miesiąc | mies | lună | hó | месяц | мес | місяць | ay | شهر
חודש | μήνα | week | year | yr | jahr | an | año | anno | pm
"""

PER = "per | a | pro | im | par | al | por | each | every | ao | na | v | в | за | w"

AFTER_SAVING = """
off | discount | rabatt | de remise | de réduction | de descuento | di sconto | korting | cashback
скидка | скидки | back | pfand | deposit | statiegeld | consigne | d éco part | d éco participation
eco tax | eco part | eco fee
"""

AFTER_MEMBER = "with card | for members | mit karte | members only | club price"

AFTER_FROM = "alkaen | and up | upwards | ve üzeri | et plus | から | 부터 | 起"

COUNTED = """
review | reviews | rating | ratings | star | stars | stern | sterne | sternen | bewertung | bewertungen
avis | étoile | étoiles | opiniones | estrellas | recensioni | stelle | pcs | piece | pieces | pack
packs | stück | stk | pièce | pièces | pzas | pezzi | stuks | ks | szt | шт | штук | item | items | left
sold | in stock | remaining | day | days | tag | tage | jours | días | giorni | hour | hours | stunden
year | years | jahr | jahre | month | months | monate | mois | minute | minutes | min | out of | von 5
sur 5 | people | customers | käufer | times | orders | отзыв | отзыва | отзывов | звезд | 個 | 件 | 개
"""

INCLUSIVE = """
inc | incl | including | inkl | ttc | ivato | iva incl | iva inclusa | con iva | med moms | s dph
z vat | brutto | с ндс | incl vat | vat incl | tax incl | 税込 | 含税
"""

EXCLUSIVE = """
exc | excl | excluding | ex | exkl | zzgl | ht | h t | iva | vat | mwst | tva | moms | dph | netto
bez dph | bez vat | sin iva | sem iva | ekskl | utan moms | без ндс | 税抜 | 税別 | 未税
"""

FREE = """
free | free of charge | gratis | kostenlos | kostenfrei | umsonst | gratuit | gratuite | offert
gratuito | grátis | zdarma | zadarmo | za darmo | bezpłatnie | ingyenes | ilmainen | бесплатно
безкоштовно | безплатно | ücretsiz | bedava | 無料 | 免费 | 免費 | 무료 | مجاني | مجانا | חינם | δωρεάν
miễn phí | ฟรี
"""

ENGLISH_MONTHS = """
january | february | march | april | may | june | july | august | september | october | november
december | jan | feb | mar | apr | jun | jul | aug | sep | sept | oct | nov | dec
"""

MEASURES = """
kg | g | mg | µg | lb | lbs | oz | ml | cl | dl | ltr | litre | litres | liter | liters | litro | litros
mm | cm | km | inch | inches | in | ft | yd | kw | kwh | w | wh | mah | ah | v | hz | khz | mhz | ghz
kb | mb | gb | tb | mp | px | dpi | rpm | bar | psi | db | lm | kcal | kj | tab | tabs | tablet
tablets | cap | caps | capsule | capsules | кг | г | мг | мл | л | литр | литра | литров | см | мм | м
км | гр | 克 | 公斤 | 千克 | 毫升 | 升 | 厘米 | グラム | リットル | 그램 | كجم | جم | مل | لتر | ג | ק"ג
מ"ל
"""

UNIT_MEASURES = """
kg | kilogram | kilogramm | kilo | g | gr | gram | gramm | mg | l | lt | ltr | litre | liter | litro
ml | cl | dl | m | m² | m2 | m³ | qm | cm | mm | ft | sq ft | sq. ft | sqft | yd | oz | fl oz | fl. oz
lb | lbs | pound | ounce | gal | quart | кг | г | л | мл | м | м² | кв м | кв. м | 公斤 | 克 | 升 | 斤
キロ
"""
