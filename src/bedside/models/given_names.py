"""Given names that are hardly ever anything else in a note: a short list, written for this package."""

from __future__ import annotations

__all__ = ["GIVEN"]

_NAMES = """
aaron abdul abdullah abigail adam adrian agnes ahmed aidan aisha alan albert alejandro alessandro alex alexander alexandra alexis alfred ali alice alicia alina
alison allison alyssa amanda amelia amina amir amit amy ana anand andre andrea andreas andrew angela angelica angelina anil anita anjali anna anne annette
annie anthony antoine antonio anya archana arjun arthur arun asha ashley ashok audrey barbara beatrice ben benjamin bernard bernice beth bethany betty
beverly billy bob bonnie brandon brenda brian bridget brittany bruce bruno bryan caitlin carl carla carlos carmen carol caroline carolyn catherine cathy
cecilia charles charlotte chelsea cheryl chloe chris christian christina christine christopher cindy claire clara claudia clifford colin connie constance craig
cristina crystal curtis cynthia daniel daniela danielle danny darlene david deborah debra deepa deepak denise dennis derek diana diane diego dmitri
dominic donald donna dora doreen doris dorothy douglas duncan dylan earl ebony eduardo edward edwin eileen elaine eleanor elena eli elijah elizabeth ella ellen
emily emma enrique eric erica erik erin ernest esther ethan eugene eva evan evelyn fatima felicia felix fernando fiona frances francesca francis
francisco frank fred frederick gabriel gabriela gail gareth gary geoffrey george gerald geraldine gertrude giovanni giulia gladys glen glenda gloria
gordon greg gregory guillermo gustavo hannah harold harriet harry harvey hassan heather hector heidi helen helena henry herbert herman howard hugh hugo
ian ibrahim ida ignacio igor ines ingrid irene isaac isabel isabella ivan jackie jacob jacqueline james jamie jan jane janet janice jared jasmine
jason javier jeanette jeff jeffrey jennifer jenny jeremy jerome jerry jesse jessica jesus jill jim jimmy joan joanna joanne joe joel johanna john johnny
jonathan jorge jose joseph josephine joshua joyce juan juanita judith judy julia julian julie julio justin kamala karen karim karl kate katherine kathleen
kathryn kathy katie katrina kayla keith kelly ken kenneth kenji kevin khalid kimberly kristen kristin kumar kurt kyle lakshmi larry laura lauren laurence laurie
lawrence leah leila lena leo leon leonard leroy leslie lewis liam lillian linda lisa lois lorenzo lori lorraine louis louise lucas lucia lucille lucy luis luke
lydia lynn mabel madeline malcolm manuel marc marcia marco marcus margaret maria marian marie marilyn mario marion marjorie marlene marsha martha martin
marvin mary mateo matthew maureen maurice megan mehmet melanie melinda melissa melvin mercedes meredith mia michael michele michelle miguel mike mildred
milton mina miriam mohamed mohammad mohammed molly mona monica monique muhammad myrtle nadia nancy naomi natalia natalie natasha nathan neha neil nicholas nicolas
nicole nikhil nina nora norma norman olga oliver olivia omar oscar pablo pamela patricia patrick paul paula pauline pedro peggy peter philip phillip phyllis
pierre pooja priya rachel rafael rahul raj rajesh ralph ramesh ramon randall randy ravi raymond rebecca regina renee ricardo richard rick rita robert roberta roberto
rodney roger roland ron ronald rosa rosalind rosemary ross roxanne roy rubén ruth ryan sally salvador sam samantha samuel sandra sanjay sara sarah sean sebastian
seema sergei sergio seth shannon sharon shawn sheila shelly shirley simon sofia sonia sophia sophie stacy stanley stella stephanie stephen steve steven stuart
sue sunil sunita suresh susan susanna suzanne sylvia tamara tammy tanya tara teresa terry thelma theodore theresa thomas tiffany tim timothy tina todd tom tomas tony
tracy travis tyler ursula valerie vanessa vera vernon veronica vicki victor victoria vijay vikram vincent viola vivian vladimir walter wanda warren wayne
wendy wesley wilfred william willie xavier yasmin yolanda yuki yusuf yvonne zachary zainab zoe
"""

GIVEN: frozenset[str] = frozenset(_NAMES.split())
"""In lower case. Names that are also words, places or units are left out."""
