"""Words that tell names from the rest of a note. Data, read by `bedside.models.people`."""

from __future__ import annotations

__all__ = [
    "BEHIND_A_FIRST_NAME",
    "EPONYMS",
    "EPONYM_NOUNS",
    "NEVER",
    "NOT_NAMES",
    "PARTICLES",
    "PLACES_BEFORE",
    "SAID_OF_ANYBODY",
    "WORDS_IN_SMALL_LETTERS",
]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


NOT_NAMES = _set(
    """
    the a an and or of in on at to for from with by is was are were be been he she it they we you i his her their our my this that these
    those no not none negative positive normal abnormal denies reports presents states has have had will would can may should if when then
    there here patient patients doctor nurse hospital clinic center centre medical department emergency room service services university
    street avenue road january february march april june july august september october november december monday tuesday wednesday thursday
    friday saturday sunday today tomorrow yesterday history present past illness family social surgical physical exam examination assessment
    plan impression diagnosis diagnoses medications medication allergies allergy review systems vital signs labs laboratory results imaging
    findings procedure procedures chief complaint blood pressure heart rate temperature respiratory pulse oxygen saturation weight height
    general neck chest abdomen skin neurologic neurological cardiovascular gastrointestinal musculoskeletal genitourinary psychiatric
    extremities lungs head eyes ears nose throat back continue start stop follow return please see call take given also however additionally
    additional upon after before during while since due because therefore right left bilateral alert oriented awake well stable unknown
    unremarkable noted reviewed discussed recommended male female man woman boy girl child infant adult year old white black hispanic asian
    african american caucasian european indian native english spanish french german chinese type stage grade class level group primary
    secondary acute chronic mild moderate severe medicine surgery cardiology neurology oncology radiology pathology pharmacy care unit lab bank pump rapid response
    intensive outpatient inpatient date name number address phone email age sex gender race status record records report note notes summary
    information source sources text data items item context question answer system use do give write only never always what who how which
    where why yes other others hypertension diabetes asthma cancer pneumonia copd anxiety depression pain cough fever cold flu covid hiv
    aids mri ct ekg ecg cbc bmp cmp security medicare medicaid insurance state county city country united kingdom america england god
    christmas easter high low new next last first second third one two three four five six seven eight nine ten bilaterally self spouse
    mother father brother sister son daughter wife husband aunt uncle parents parent siblings both either all each every dr mr mrs ms mx
    miss prof oral tympanic rectal axillary temp tmax jaundice haemoglobin hemoglobin pediatric paediatric provide some any many most several few much therapy sample prostate
    children work sigma staff nursing team facility police everyone everybody nobody somebody someone onset vision sleep mood hearing
    appetite energy urine stool bowel nutrition therapist everything nothing something doppler neuro kidney liver lung brain breast spine
    knee hip shoulder ankle wrist elbow hand foot eye ear surgeon physician provider nurses resident student cardiac renal hepatic vascular
    thoracic lumbar cervical education counseling follow-up discharge admission transfer consult consultation referral home office chart
    visit visits memorial baptist methodist presbyterian mercy catholic jewish muslim buddhist hindu christian baby twin twins boys girls
    gentleman lady mom dad mum grandmother grandfather active problem problems list overall currently denied denying recently previously
    initially sometimes often usually occasionally although though again still once perhaps maybe sincerely regards thanks thank hello hi
    dear total partial complete incomplete urgent routine
    nausea vomiting dizziness headache headaches fatigue swelling rash itching bleeding numbness tingling weakness cramps cramping constipation
    diarrhea diarrhoea palpitations seizure seizures tremor stiffness symptoms symptom discomfort nursing billing scheduling imaging housing staffing counselling veteran veterans vitamin hepatitis influenza protein factor coenzyme complex immunoglobulin strep staph haemophilus apolipoprotein botulinum
    amphotericin cyclosporin polymyxin domain phase part option table figure section schedule non-hodgkin settings helicobacter elixir domain
    """
)  # fmt: skip
"""In lower case: what is written with a capital in notes and names nobody."""
EPONYMS = _set(
    """
    addison alzheimer babinski baker barrett bell bence bishop bowen brown bruton burkitt charcot colles crohn cushing doppler down
    dupuytren ehlers ewing fallot fanconi foley gaucher gilbert gleason glasgow gram graves guillain hashimoto heberden heimlich
    hirschsprung hodgkin horner huntington jones kaposi kawasaki kernig korsakoff lachman lyme marfan mcburney mcmurray meniere murphy
    ortolani osgood paget pap parkinson phalen raynaud reiter reye romberg schober sjogren spurling tinel tourette trendelenburg turner
    valsalva virchow weber wegener wernicke whipple wilson young long short grey gray green rose hill bird day power price stone may april
    june august frank rich sharp hand foot head march summer love hope grace faith joy ward allen alice keith hassan ellis apgar bankart bartholin bartter berger bethesda
    bouchard bradford broca brugada budd calve chiari clark conn cooper coombs cotton currarino dandy dercum duchenne durkan eaton ebstein
    eisenmenger epstein erb finkelstein finnegan fitz froment galeazzi gehrig gottron hampton hawkins hoffman hoffmann homan homans howard
    jackson jakob janeway jude killip klinefelter kocher kussmaul lambert lasegue lewy loeb lou lynch mallory marie martin meckel merkel
    mirizzi mohs morton neer nelson nissen norwood occam osler pascal peyronie pick plummer pott pratt prader quincke ranson rapid reed
    rinne ross roux schatzki schilling sheehan simmonds sister speed stanford stevens still tanner tay thomas thompson tietze trousseau
    turcot waldenstrom waterhouse wells west whitney wolff yergason yellow zenker zollinger children women men mercy luke mary joseph
    virginia georgia diego paris lawrence
    """
)  # fmt: skip
"""Names that stand for a disease, a sign or a device as often as for a person, and words that are names too: found
where a name is told, never looked for elsewhere."""
EPONYM_NOUNS = _set(
    """
    disease diseases syndrome syndromes sign signs test tests reflex palsy paralysis phenomenon disorder anemia anaemia
    lymphoma sarcoma carcinoma tumor tumour tumors tumours nephropathy neuropathy encephalopathy ataxia dystrophy chorea
    fracture deformity contracture hernia ulcer node nodes cell cells body bodies gland cyst pouch diverticulum esophagus
    oesophagus score scale index criteria classification grade stage triad triangle law stain culture procedure operation
    repair anastomosis maneuver manoeuvre incision catheter tube drain line needle clamp forceps retractor splint tracheotomy
    """
)  # fmt: skip
"""What follows an eponym."""
BEHIND_A_FIRST_NAME = _set(
    """
    white black english french german may march day price christmas king hall hand foot head power young long short
    """
)  # fmt: skip
"""Words that are surnames, too: kept behind a first name."""
NEVER = _set(
    """
    the a an and or of in on at to for from with by is was are were has have had he she it they we you i his her their our my this that
    these those no not none unknown see seen recommended advised who patient patients name here there also date phone
    """
)  # fmt: skip
"""Not even behind a title."""
PARTICLES = _set(
    """
    van von der den de del della la le da dos das di bin binti ibn al el ter ten jr sr
    """
)  # fmt: skip
"""Small words within a name."""
PLACES_BEFORE = _set(
    """
    st saint san santa lou fort ft port mount mt lake camp point cape
    """
)  # fmt: skip
"""Before these, a given name is part of a place or of an eponym."""
SAID_OF_ANYBODY = _set(
    """
    said says told thinks recommended recommends wants wanted ordered started did does just kind who visit visits appointment office
    tomorrow soon uh right okay something somebody know
    them anything good fine great well sure please sorry nice morning afternoon
    """
)  # fmt: skip
"""What follows "dr." in small letters where no name does."""
WORDS_IN_SMALL_LETTERS = _set(
    """
    frank crystal heather jasmine ebony viola earl rosemary mercedes victoria constance myrtle christian norma stella regina mina lena glen
    gail jill karim kumar elba alma delta gamma linda angel clara celeste hortencia marina carol dora lana mara maya tara vera vida viva zola elder
    """
)  # fmt: skip
"""Given names that are words or parts of words where they stand in small letters."""
