//! `conclave history`: what is listed, shown, exported, deleted and graded.

#[test]
#[ignore]
fn scratch() {
    let logs = std::path::Path::new("/tmp/hist-home/consult-logs");
    std::fs::create_dir_all(logs).unwrap();
    crate::support::generated::write(logs, 7, 300, crate::support::generated::Length::Short);
    for one in crate::support::generated::consultations(7, 40, crate::support::generated::Length::Usual) {
        std::fs::write(logs.join(format!("{}.jsonl", one.id)), one.journal()).unwrap();
    }
}
