//! Portuguese.

use super::Language;
use super::Meaning::{
    Address, AllDone, Courtesy, Intention, Offer, Open, Optional, Proceeds, Request, WholeDone,
};

pub(super) const PORTUGUESE: Language = Language {
    negators: &[
        "não",
        "nunca",
        "quase",
        "nenhum",
        "nenhuma",
        "nada",
        "parcialmente",
        "ainda",
        "nem",
    ],
    conditions: &[
        "se", "quando", "até", "vez", "antes", "depois", "enquanto", "assim",
    ],
    modals: &[
        "deveria",
        "deve",
        "devem",
        "será",
        "serão",
        "verificar",
        "garantir",
        "para",
        "vou",
    ],
    exceptions: &["exceto", "menos", "salvo", "exceção"],
    parts: &[
        "fase",
        "passo",
        "seção",
        "parte",
        "módulo",
        "iteração",
        "hoje",
        "etapa",
    ],
    resolutions: &[
        "corrigi",
        "estava",
        "estavam",
        "havia",
        "tinha",
        "resolvido",
    ],
    phrases: &[
        (
            AllDone,
            &[
                "todas|todos as|os|estas ~2 tarefas|funcionalidades|passos|etapas|requisitos|itens|pontos|trabalhos ~3 estão|foram|são ?agora|já ?todas|todos|totalmente concluídas|concluídos|completas|completos|completadas|terminadas|finalizadas|finalizados|prontas|prontos|feitas|implementadas|implementados",
                "^ todas|todos as|os ~2 tarefas|etapas concluídas|concluídos|finalizadas|completas",
                "tudo está|foi ?agora|já ?totalmente concluído|completo|pronto|feito|finalizado|terminado|implementado",
                "não resta|há|restam|falta ?mais nada|nenhuma|tarefas ?mais|tarefa|pendentes ?pendente ?a|para|por|que ?fazer",
                "nada mais a|para|por fazer",
                "concluí|terminei|finalizei|implementei todas|todos|tudo",
            ],
        ),
        (
            WholeDone,
            &[
                "a|o ~1 implementação|projeto|trabalho|tarefa|migração|refatoração está|foi ?agora|já ?totalmente concluída|concluído|completa|completo|terminada|terminado|finalizada|finalizado|pronta|pronto",
                "^ implementação|projeto|trabalho|migração concluída|concluído|completa|finalizada|finalizado $",
            ],
        ),
        (
            Open,
            &[
                "não está|estão|foi|foram ~3 concluído|concluída|concluídos|concluídas|completo|completa|pronto|pronta|feito|implementado|implementada|terminado|finalizado",
                "ainda não|falta|faltam|resta|restam|há|está|precisa|preciso",
                "falta|faltam|resta|restam ?ainda|#|implementar|fazer ~2",
                "pendente|pendentes ~1 :",
                "tarefas|trabalho pendentes|pendente|restantes|restante ?:",
                "em andamento|progresso",
                "quase|parcialmente pronto|concluído|completo|implementado",
            ],
        ),
        (
            Intention,
            &[
                "vou ?agora continuar|implementar|corrigir|adicionar|seguir|começar|escrever",
                "continuarei|seguirei|prosseguirei com|a|o",
                "próximo|próxima passo|tarefa|etapa :",
                "na próxima iteração",
                "em seguida ?vou",
            ],
        ),
        (
            Request,
            &[
                "^ confirme|indique|esclareça|escolha|responda|informe|diga",
                "por favor ~1 confirme|confirma|indique|esclareça|escolha|responda|informe|forneça|diga|confirmar",
                "aguardando|aguardo ?a|o sua|seu|resposta|confirmação",
                "preciso ?da|de|do|que sua|seu|confirmação|você|mais",
                "me|avise ?avise|diga|me qual|se|como",
            ],
        ),
        (
            Address,
            &[
                "você",
                "vocês",
                "prefere",
                "quer",
                "deseja",
                "devo|posso|podemos",
                "gostaria",
                "pode",
                "poderia",
                "seu",
                "sua",
            ],
        ),
        (
            Offer,
            &[
                "quer|deseja|gostaria que ?eu",
                "se você|quiser|desejar ?quiser|desejar",
                "posso também",
            ],
        ),
        (
            Courtesy,
            &[
                "mais alguma|algo ?coisa|pergunta",
                "algo mais",
                "alguma|outra dúvida|pergunta",
                "alguma outra ?dúvida|coisa",
            ],
        ),
        (
            Proceeds,
            &["enquanto isso", "vou assumir|prosseguir", "assumi que"],
        ),
        (
            Optional,
            &[
                "opcional",
                "opcionais",
                "poderia|poderiam",
                "no futuro",
                "se necessário",
            ],
        ),
    ],
    has_blanks: true,
};
