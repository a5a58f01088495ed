"""What gates, queues and log-in walls say to a visitor, in the languages that shops are read in.

Phrases are in lower case, separated by bars. None counts on a page with content: see `challenge.py`.
"""

from __future__ import annotations


def _table(text: str) -> tuple[str, ...]:
    return tuple(phrase for part in text.split("|") if (phrase := " ".join(part.split())))


BLOCK_PHRASES = _table(
    """
    verify you are human | verify you are a human | verify that you are human | verifying you are human |
    verify you're human | confirm you are human | confirm that you are human | confirm that you’re human |
    confirm you're human | confirm you’re human | prove your humanity | prove you are human |
    prove you're not a robot | are you a robot | are you a human | are you human | robot or human |
    you are not a robot | you're not a robot | you’re not a robot | not a bot | i am not a robot |
    i'm not a robot | human verification | bot verification | checking your browser |
    checking if the site connection is secure | security of your connection |
    complete the security check | security check | security verification | unusual traffic |
    unusual activity | suspicious activity | automated access | automated requests | automated traffic |
    automated queries | you have been blocked | you've been blocked | has been blocked | is blocked |
    was blocked | access denied | access to this page has been denied | access is denied |
    access blocked | access restricted | request blocked | request unsuccessful |
    enable javascript and cookies to continue | please enable js and disable any ad blocker |
    enable cookies and reload | ddos protection | ddos attack | bot detected | bot protection |
    solve the captcha | complete the captcha | type the characters | enter the characters you see |
    press & hold | press and hold | just a moment | one more step | attention required |
    pardon our interruption | making sure you're not | not available in your region |
    not available in your country | unavailable for legal reasons |
    javascript is required. please enable javascript before you are allowed | your ip address |
    your ip has been | nicht ein roboter | kein roboter | sicherheitsüberprüfung | sicherheitsprüfung |
    zugriff verweigert | menschlich sind | vérifier que vous êtes | pas un robot | accès refusé |
    contrôle de sécurité | vous êtes un humain | no eres un robot | no soy un robot |
    verifica que eres humano | acceso denegado | comprobación de seguridad | non sei un robot |
    non sono un robot | accesso negato | verifica di essere umano | não sou um robô | não é um robô |
    acesso negado | verificação de segurança | nie jesteś robotem | odmowa dostępu | dostęp zabroniony |
    geen robot | toegang geweigerd | robot olmadığınızı | erişim engellendi | вы не робот | я не робот |
    доступ запрещ | доступ ограничен | проверка браузера | ви не робот |
    私はロボットではありません | ロボットではない |
    アクセスが拒否 | 请完成安全验证 | 安全验证 | 人机验证 | 访问被拒绝 | 滑动验证 |
    로봇이 아닙니다 | 접근이 거부 | لست روبوت | تم رفض الوصول |
    לא רובוט
    """
)
"""Said by a gate about the visitor. Counts only in a short page, or in its title or heading."""

QUEUE_PHRASES = _table(
    """
    you are now in line | you are in line | you're in line | you are in the queue | you're in the queue |
    you are now in the queue | waiting room | estimated wait | your turn | your place in line |
    your number in line | too many shoppers | too many visitors | too many users | too many people |
    too many customers | high demand | heavy traffic | high traffic | large number of visitors |
    once a place is free | let you in | virtual queue | virtual line | experiencing unusually high |
    very busy right now | extremely busy | currently at capacity | over capacity | server is overloaded |
    warteschlange | warteraum | file d'attente | file d’attente | salle d'attente | sala de espera |
    cola virtual | sala d'attesa | sei in coda | wachtrij | wachtruimte | fila de espera | fila virtual |
    w kolejce | вы в очереди | ви в черзі | 待機室 | 順番にご案内 | 正在排队 | 排队中 | 대기열 | sıradasınız
    """
)
"""Said by a page that holds visitors back while the shop is full."""

LOGIN_PHRASES = _table(
    """
    sign in | log in | login | signin | log on | sign on | anmelden | einloggen | connexion |
    se connecter | identifiez-vous | iniciar sesión | inicia sesión | accedi | entrar | inloggen |
    zaloguj | logga in | log ind | logg inn | kirjaudu | войти | вход | увійти | ログイン |
    登录 | 登錄 | 로그인 |
    تسجيل الدخول | giriş yap | přihlásit | bejelentkez | members only | password protected |
    enter store using password | enter using password | trade customers only
    """
)
"""Said by a wall that only an account opens."""

MAINTENANCE_PHRASES = _table(
    """
    under maintenance | down for maintenance | scheduled maintenance | maintenance mode | be right back |
    we'll be back | we’ll be back | we will be back | site is temporarily unavailable | temporarily closed |
    temporarily offline | service unavailable | bad gateway | gateway timeout | internal server error |
    wartungsarbeiten | wartungsmodus | en maintenance | en mantenimiento | in manutenzione | em manutenção |
    in onderhoud | przerwa techniczna | technische störung | технические работы | メンテナンス | 维护中 |
    점검 중
    """
)
"""Said by a shop that is closed for everybody for a while: an outage, not a refusal."""
