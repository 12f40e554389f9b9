//! Tables of recorded answers, well-formed and not.

use super::*;

const SAMPLE: &str = "\
question_id,category,n_options,gold,one,two,three
1,law,4,A,A,B,
2,law,3,B, b ,B,-
3,maths,4,C,A,,C
";

fn read_text(text: &str) -> Result<AnswerTable, RecordedAnswersError> {
    read(text.as_bytes(), &ColumnNames::default())
}

fn with_models(text: &str, models: &[&str]) -> Result<AnswerTable, RecordedAnswersError> {
    let names = ColumnNames {
        models: models.iter().map(ToString::to_string).collect(),
        ..ColumnNames::default()
    };
    read(text.as_bytes(), &names)
}

fn error(result: Result<AnswerTable, RecordedAnswersError>) -> String {
    result.unwrap_err().to_string()
}

fn names(table: &AnswerTable) -> Vec<&str> {
    table
        .models
        .iter()
        .map(|model| model.name.as_str())
        .collect()
}

#[test]
fn columns_are_found_by_their_names_and_cells() {
    let table = read_text(SAMPLE).unwrap();
    assert_eq!(names(&table), ["one", "two", "three"]);
    assert_eq!(table.columns.gold, "gold");
    assert_eq!(table.columns.id.as_deref(), Some("question_id"));
    assert_eq!(table.columns.options.as_deref(), Some("n_options"));
    assert_eq!(table.different_answers, 3);
}

#[test]
fn only_questions_put_to_all_models_count() {
    let table = read_text(SAMPLE).unwrap();
    assert_eq!(table.rows, 3);
    assert_eq!(table.questions.len(), 2);
    assert_eq!(table.models[2].not_asked, 1);
    assert_eq!(table.questions[0].options, Some(4));
}

#[test]
fn empty_cell_is_a_model_without_an_answer() {
    let table = read_text(SAMPLE).unwrap();
    assert_eq!(table.questions[0].answers[2], None);
    assert_eq!(table.questions[1].answers[1], None);
}

#[test]
fn answers_are_equal_but_for_case_and_blanks() {
    let table = with_models(SAMPLE, &["one", "two"]).unwrap();
    let second = &table.questions[1];
    assert_eq!(second.answers, [Some(second.gold); 2]);
}

#[test]
fn named_models_are_asked_in_their_order() {
    let table = with_models(SAMPLE, &["THREE", "one"]).unwrap();
    assert_eq!(names(&table), ["three", "one"]);
}

#[test]
fn first_usual_name_of_the_right_answers_wins() {
    let table = read_text("answer,Expected,x,y\nA,B,A,A\nB,A,B,A\n").unwrap();
    assert_eq!(table.columns.gold, "answer");
    assert_eq!(names(&table), ["x", "y"]);
    let named = ColumnNames {
        gold: Some("expected".to_owned()),
        ..ColumnNames::default()
    };
    let table = read(b"answer,Expected,x,y\nA,B,A,A\nB,A,B,A\n", &named).unwrap();
    assert_eq!(table.columns.gold, "Expected");
}

#[test]
fn quoted_cells_byte_order_mark_and_windows_lines_are_read() {
    let text = "\u{feff}gold,x,y\r\n\"New York, NY\",\"new york, ny\",LA\r\n";
    let table = with_models(text, &["x", "y"]).unwrap();
    let question = &table.questions[0];
    assert_eq!(question.answers[0], Some(question.gold));
    assert_ne!(question.answers[1], Some(question.gold));
}

#[test]
fn options_that_are_no_numbers_are_not_used() {
    let table = with_models("gold,options,x,y\nA,A|B,A,B\n", &["x", "y"]).unwrap();
    assert_eq!(table.columns.options, None);
}

#[test]
fn text_that_is_not_utf8_is_named_by_its_line() {
    let found = read(b"gold,x,y\nA,A,A\nA,\xff,A\n", &ColumnNames::default());
    assert_eq!(error(found), "line 3 is not UTF-8 text");
}

#[test]
fn column_that_may_hold_answers_must_be_named() {
    let text = "gold,x,y,z\nA,A,A,A\nB,B,A,7\nB,A,B,8\n";
    let expected = "it is unclear whether `z` holds answers";
    assert_eq!(error(read_text(text)), expected);
    assert_eq!(with_models(text, &["x", "z"]).unwrap().models.len(), 2);
}

/// A line for each: the chosen models, the table with `\n` for a line break, and the reason.
const UNUSABLE: &str = "\
    | | the file is empty
    | \\n\\n | the file is empty
    | gold,x,y\\n | the file has a header and no rows
    | gold,x,y\\nA,A,A\\nB,B\\n | line 3 has 2 cells, but the header has 3
    | gold,x,y\\n\"A\\nB\",A,A\\nB,B,B,B\\n | line 4 has 4 cells, but the header has 3
    one,thre | SAMPLE | there is no column `thre`; did you mean `three`?
    | right,x,y\\nA,A,A\\n | there is no column `gold`, `answer`, `expected` or `target`
    x | gold,x,x\\nA,A,B\\n | two columns are named `x`
    one,One | SAMPLE | the model `one` is named twice
    one | SAMPLE | only `one` has answers; a panel needs two models
    one,gold | SAMPLE | the column `gold` holds no model's answers
    | gold,note\\nA,hello\\n | no column has answers of a model
    | gold,x,y\\nA,A,A\\n,B,B\\n | line 3 has no right answer
    | id,gold,x,y\\n1,A,A,A\\n,B,B,A\\n | line 3 has no id
    | id,gold,x,y\\n7,A,A,A\\n8,B,B,B\\n7,A,A,A\\n | lines 2 and 4 have the same id, `7`
    x,y,z | gold,x,y,z\\nA,A,-,A\\nB,-,B,B\\nA,A,-,A\\n | no question was put to all models; \
    `y` was asked the fewest";

#[test]
fn unusable_tables_are_refused_with_the_reason() {
    for row in UNUSABLE.lines() {
        let parts: Vec<&str> = row.split('|').map(str::trim).collect();
        let [models, text, why] = parts[..] else {
            panic!("{row}")
        };
        let models: Vec<&str> = models.split_terminator(',').collect();
        let text = text.replace("SAMPLE", SAMPLE).replace("\\n", "\n");
        assert_eq!(error(with_models(&text, &models)), why, "{row}");
    }
}
