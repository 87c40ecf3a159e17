"""Risk phrases as people put them: in Filipino, which no embedder reads, and plainly elsewhere."""

from __future__ import annotations

import pytest

from ieim.pipeline.message import risk


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Gusto ko nang mamatay", {"self_harm"}),
        ("gusto ko na po mamatay, wala nang saysay ang buhay ko", {"self_harm"}),
        ("Ayoko nang mabuhay. Kanino ko ibibigay ang susi?", {"self_harm"}),
        ("Iniisip kong magpakamatay gabi-gabi", {"self_harm"}),
        ("sana di na ako magising bukas", {"self_harm"}),
        ("super pagod na pagod na ako, hindi ko na kaya", {"self_harm"}),
        ("gusto ko mag-suicide", {"self_harm"}),
        ("Sinasaktan ako ng asawa ko", {"violence"}),
        ("binubugbog po ako ng boyfriend ko pag lasing", {"violence"}),
        ("Hindi ako safe sa bahay, paano lumipat ng address?", {"violence"}),
        ("nalaman na niya kung saan ako nakatira", {"violence"}),
        ("Kinukulong niya ako sa kwarto at hawak ng amo ko ang passport ko", {"violence"}),
        ("natatakot na po akong umuwi mamaya", {"violence"}),
        ("papatayin daw niya ako pag umalis ako", {"violence"}),
        ("Sinasaktan niya ang mga bata kapag umiiyak", {"minor_at_risk"}),
        ("wala na akong maipakain sa mga anak ko", {"minor_at_risk"}),
        ("pinapalo ako ng tatay ko gamit ang sinturon", {"minor_at_risk"}),
        ("Hindi na magising si nanay", {"medical_emergency"}),
        ("hindi makahinga ang anak ko, tumawag kayo ng ambulansya", {"medical_emergency"}),
        ("nawalan siya ng malay sa banyo", {"medical_emergency"}),
        ("Kakasuhan ko kayo", {"legal_threat"}),
        ("May gumagamit, ginamit ang identity ko sa utang", {"fraud"}),
        ("hinihingan ako ng lagay sa munisipyo", {"fraud"}),
        ("Isusumbong ko kayo sa media", {"regulator_or_press"}),
        ("Pakiusap, burahin ang data ko", {"data_protection_request"}),
        ("Gusto kong makipag-usap sa totoong tao", {"person_wanted"}),
        ("I do not feel safe at home, can I move?", {"violence"}),
        ("My ex found out where I live", {"violence"}),
        ("he won't let me leave the house", {"violence"}),
        ("I can't go on anymore", {"self_harm"}),
        ("dad fell and he won't wake up", {"medical_emergency"}),
        ("my kids have nothing to eat", {"minor_at_risk"}),
        ("Ich fühle mich zu Hause nicht sicher", {"violence"}),
        ("Er hat herausgefunden, wo ich wohne", {"violence"}),
        ("Meine Mutter wacht nicht mehr auf", {"medical_emergency"}),
        ("Je ne me sens pas en sécurité chez moi", {"violence"}),
        ("Il a trouvé où j'habite", {"violence"}),
        ("elle ne se réveille pas", {"medical_emergency"}),
        ("No me siento segura en casa", {"violence"}),
        ("Mi ex ya sabe dónde vivo", {"violence"}),
        ("mi abuelo no se despierta", {"medical_emergency"}),
        ("我不想活了", {"self_harm"}),
        ("今天下午他找到我住的地方，我很害怕", {"violence"}),
        ("我妈怎么叫都叫不醒", {"medical_emergency"}),
        ("لا أشعر بالأمان في بيتي", {"violence"}),
        ("أمي لا تستيقظ", {"medical_emergency"}),
    ],
)
def test_it_finds_what_people_say_plainly(text: str, codes: set[str]) -> None:
    assert {found.code for found in risk.find(text)} == codes


@pytest.mark.parametrize(
    "text",
    [
        "Paano kumuha ng death certificate ng namatay kong tatay?",
        "Patay na po ang asawa ko, ano ang kailangan para sa pensiyon ng balo?",
        "Nagpakamatay ang kapatid ko noong 2019, saan kukuha ng kopya ng report?",
        "Nasaktan ako sa trabaho, may sick leave ba?",
        "Sumasakit ang ngipin ko, saan may libreng dentista?",
        "May balita tungkol sa bugbog sa palengke, saan makikita ang ulat?",
        "Sinusundan ako ng kapatid kong si Ana sa birth certificate, tama ba?",
        "Hindi ko na kayang bayaran ang buwis, puwede bang hulugan?",
        "Pagod na ako sa kahihintay ng permit",
        "Mamamatay na ako sa tagal ng pila ninyo",
        "Gusto ko na mawala ang multa ko",
        "Ayoko nang tumira sa Maynila, paano mag-deregister?",
        "Natatakot akong mahuli ang application ko",
        "Manganganak na ako sa Marso, magkano ang maternity benefit?",
        "Ayaw gumising ng anak ko para sa klase, may panghapon ba?",
        "Nalulunod kami sa utang, may payo ba?",
        "Walang makain na tinapay sa kantina, sino ang namamahala?",
        "Inatake sa puso ang tatay ko noong 2020, may tulong ba sa gamot?",
        "Nawala ang passport ko, kanino ako lalapit?",
        "Paano pumatay ng ipis sa kusina ng inuupahan?",
        "Saan puwedeng tumalon sa tubig, bukas ba ang pool?",
        "Makausap ko ba ang taong nag-asikaso ng lisensya?",
        "May bomba sa tubig sa barangay namin, sino ang nag-aayos?",
        "Sino ang kausap para sa data ng populasyon?",
        "I am not afraid of my exam, where is the test centre?",
        "There is no point in living here without a bus",
        "My laptop won't wake up, can I file on paper?",
        "The letter threatens me with a fine",
        "Mein Ausweis und ich sind sicher zu Hause angekommen",
        "J'en ai marre de vivre dans ce logement humide",
        "Estoy cansada de vivir en este barrio",
        "你们天天打我电话，不要再打了",
        "怎么跟踪我的申请进度",
        "孩子一个人在家不安全吗，几岁可以",
    ],
)
def test_it_finds_nothing_in_ordinary_words_that_sound_alike(text: str) -> None:
    assert risk.find(text) == []
