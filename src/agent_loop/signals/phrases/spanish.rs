//! Spanish.

use super::Language;
use super::Meaning::{
    Address, AllDone, Courtesy, Intention, Offer, Open, Optional, Proceeds, Request, WholeDone,
};

pub(super) const SPANISH: Language = Language {
    negators: &[
        "no",
        "nunca",
        "casi",
        "tampoco",
        "ningún",
        "ninguna",
        "nada",
        "parcialmente",
        "aún",
        "todavía",
    ],
    conditions: &[
        "si", "cuando", "hasta", "vez", "antes", "después", "mientras", "apenas",
    ],
    modals: &[
        "debería",
        "deberían",
        "debe",
        "deben",
        "será",
        "serán",
        "verificar",
        "asegurar",
        "para",
        "voy",
        "hay",
    ],
    exceptions: &["excepto", "salvo", "menos", "excepción"],
    parts: &[
        "fase",
        "paso",
        "sección",
        "parte",
        "módulo",
        "iteración",
        "hoy",
        "etapa",
    ],
    resolutions: &[
        "corregí", "estaba", "estaban", "había", "habían", "era", "resuelto",
    ],
    phrases: &[
        (
            AllDone,
            &[
                "todas|todos las|los|estas ~2 tareas|funcionalidades|pasos|requisitos|elementos|puntos|trabajos ~3 están|han|son|quedaron ?sido|ahora|ya ?sido ?todas|todos|completamente completadas|completados|terminadas|terminados|completas|completos|listas|listos|finalizadas|finalizados|hechas|implementadas|implementados",
                "^ todas|todos las|los ~2 tareas|pasos completadas|completados|terminadas|finalizadas",
                "todo está|ha|quedó ?ya|ahora|sido ?completamente|sido terminado|completo|completado|listo|hecho|finalizado|implementado",
                "no queda|hay|quedan ?ya|nada|más|ninguna|tareas ?nada|tarea|tareas|más|pendiente|pendientes ?más ?por|que|pendiente|pendientes ?hacer",
                "nada más|pendiente que|por hacer",
                "he|ya ?he completado|terminado|finalizado|implementado todas|todos|todo",
            ],
        ),
        (
            WholeDone,
            &[
                "la|el ~1 implementación|proyecto|trabajo|tarea|migración|refactorización está|ha|quedó ?ya|ahora|sido ?completamente|sido completa|completo|completada|completado|terminada|terminado|finalizada|finalizado|lista|listo",
                "^ implementación|proyecto|trabajo|migración completa|completada|completado|terminada|terminado|finalizada $",
            ],
        ),
        (
            Open,
            &[
                "no está|están|ha|han|he ~3 terminado|terminada|terminados|completo|completa|completado|completada|listo|lista|hecho|implementado|implementada",
                "aún|todavía no|falta|faltan|queda|quedan|hay|está",
                "falta|faltan|queda|quedan ?aún|todavía|por|#|pendiente|pendientes ~2",
                "pendiente|pendientes ?de ~1 :",
                "tareas|trabajo pendiente|pendientes|restante|restantes ?:",
                "por hacer :",
                "en progreso|curso",
                "casi|parcialmente terminado|completo|listo|implementado|completado",
            ],
        ),
        (
            Intention,
            &[
                "voy a|ahora ?a continuar|implementar|corregir|agregar|añadir|seguir|empezar|escribir",
                "continuaré|seguiré|procederé|implementaré con|a|el|la|los|las",
                "próximo|siguiente paso|tarea :",
                "en la próxima|siguiente iteración",
                "a continuación ?voy|implementaré|haré",
            ],
        ),
        (
            Request,
            &[
                "^ confirma|confirme|confírmame|indica|indique|aclara|aclare|elige|elija|responde|dime",
                "por favor ~1 confirma|confirme|confírmame|indica|indique|aclara|elige|elija|responde|dime|proporciona|proporcione|confirmar",
                "esperando ?a|por tu|su|respuesta|confirmación|tus|sus|que",
                "espero ?a tu|su",
                "necesito ?de|que tu|su|tus|confirmación|aclaración|me|más",
                "avísame|dime|déjame|hazme ?saber cuál|si|qué|cómo|saber",
            ],
        ),
        (
            Address,
            &[
                "tú",
                "usted",
                "prefieres",
                "prefiere",
                "quieres",
                "quiere",
                "deseas",
                "desea",
                "debo|debería|puedo|podemos",
                "te",
                "tu",
                "su",
                "puedes",
                "podrías",
            ],
        ),
        (
            Offer,
            &[
                "quieres|quiere|deseas|desea que ?también",
                "te|le gustaría",
                "si quieres|quiere|deseas|lo",
                "puedo también",
            ],
        ),
        (
            Courtesy,
            &[
                "algo|alguna más|otra ?cosa|pregunta",
                "alguna|más ?otra pregunta|preguntas",
                "no dudes en",
            ],
        ),
        (
            Proceeds,
            &[
                "procedo con",
                "mientras tanto",
                "asumo|asumiré que",
                "elegí|usaré",
            ],
        ),
        (
            Optional,
            &[
                "opcional",
                "opcionales",
                "opcionalmente",
                "podría|podrían",
                "en el futuro",
                "si es necesario",
            ],
        ),
    ],
    has_blanks: true,
};
