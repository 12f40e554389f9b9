//! Commits, counted without Git.

use std::fs;
use std::path::Path;

use super::trees::{Project, write};

fn has_history(root: &Path) -> bool {
    let description = conclave::context::project::describe(root, 1_000).unwrap();
    let indicators = description.context.indicators_found;
    indicators.contains(&"git".to_owned())
}

fn repository() -> Project {
    Project::new(&[(".git/HEAD", "ref: refs/heads/main\n")])
}

/// Writes a pack: commits first, of which every second one is stored as a difference to the one
/// before it, then trees.
fn write_pack(folder: &Path, commits: usize, trees: usize) {
    const NAME: &str = "pack-1";
    const COMMIT: u8 = 1 << 4;
    const TREE: u8 = 2 << 4;
    const DIFFERENCE: u8 = 6 << 4;
    let mut pack = b"PACK\0\0\0\x02\0\0\0\0".to_vec();
    let mut offsets: Vec<u32> = Vec::new();
    for index in 0..commits + trees {
        let offset = u32::try_from(pack.len()).unwrap();
        match index {
            _ if index >= commits => pack.push(TREE | 5),
            _ if index % 2 == 1 => {
                // The size in two bytes, and the distance to the object before it.
                pack.extend([DIFFERENCE | 0x80 | 5, 1, 9]);
            }
            _ => pack.push(COMMIT | 5),
        }
        pack.extend([0; 8]);
        offsets.push(offset);
    }
    let number = u32::try_from(offsets.len()).unwrap();
    let mut index = b"\xfftOc\0\0\0\x02".to_vec();
    for _ in 0..256 {
        index.extend(number.to_be_bytes());
    }
    index.extend(vec![7; offsets.len() * (20 + 4)]);
    // Ids are sorted, so that places are not.
    for offset in offsets.iter().rev() {
        index.extend(offset.to_be_bytes());
    }
    index.extend([0; 40]);
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(format!("{NAME}.idx")), index).unwrap();
    fs::write(folder.join(format!("{NAME}.pack")), pack).unwrap();
}

fn write_graph(path: &Path, commits: u32) {
    let mut graph = b"CGPH\x01\x01\x01\0".to_vec();
    graph.extend(b"OIDF");
    graph.extend(32_u64.to_be_bytes());
    graph.extend([0; 12]);
    for _ in 0..256 {
        graph.extend(commits.to_be_bytes());
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, graph).unwrap();
}

#[test]
fn ten_logged_commits_are_a_history() {
    assert!(has_history(Project::new(&[]).with_commits(10).path()));
    assert!(!has_history(Project::new(&[]).with_commits(9).path()));
}

#[test]
fn amended_commits_and_checkouts_do_not_count() {
    let log = "0 1 A <a@b> 1 +0000\tcommit (amend): x\n0 1 A <a@b> 1 +0000\tcheckout: moving\n";
    let project = repository();
    write(&project.path().join(".git/logs/HEAD"), &log.repeat(20));
    assert!(!has_history(project.path()));
}

#[test]
fn commits_in_packs_count_also_as_differences() {
    let pack = |commits, trees| {
        let project = repository();
        write_pack(&project.path().join(".git/objects/pack"), commits, trees);
        has_history(project.path())
    };
    assert!(pack(10, 0));
    assert!(pack(10, 400));
    assert!(!pack(9, 400));
    assert!(pack(5_000, 5_000));
}

#[test]
fn commits_of_the_graph_count() {
    let project = repository();
    write_graph(&project.path().join(".git/objects/info/commit-graph"), 10);
    assert!(has_history(project.path()));
    let project = repository();
    let chain = project.path().join(".git/objects/info/commit-graphs");
    write_graph(&chain.join("graph-1.graph"), 6);
    assert!(!has_history(project.path()));
    write_graph(&chain.join("graph-2.graph"), 4);
    assert!(has_history(project.path()));
}

#[test]
fn shallow_clone_has_a_history() {
    let project = repository();
    write(&project.path().join(".git/shallow"), "0123\n");
    assert!(has_history(project.path()));
}

#[test]
fn linked_worktree_has_the_history_of_its_repository() {
    let main = repository();
    write_pack(&main.path().join(".git/objects/pack"), 12, 3);
    let own = main.path().join(".git/worktrees/a");
    write(&own.join("HEAD"), "ref: refs/heads/a\n");
    write(&own.join("commondir"), "../..\n");
    let linked = Project::new(&[(".git", &format!("gitdir: {}\n", own.display()))]);
    assert!(has_history(linked.path()));
}

#[test]
fn submodule_has_its_own_history() {
    let parent = Project::new(&[("lib/.git", "gitdir: ../.git/modules/lib\n")]).with_commits(20);
    write(&parent.path().join(".git/modules/lib/HEAD"), "x");
    assert!(!has_history(&parent.path().join("lib")));
    assert!(has_history(parent.path()));
}

#[test]
fn borrowed_objects_count() {
    let other = repository();
    write_pack(&other.path().join(".git/objects/pack"), 12, 3);
    let project = repository();
    let objects = other.path().join(".git/objects");
    write(
        &project.path().join(".git/objects/info/alternates"),
        &format!("{}\n", objects.display()),
    );
    assert!(has_history(project.path()));
}

#[test]
fn folder_in_a_repository_has_its_history() {
    let project = Project::new(&[("apps/web/package.json", "{}")]).with_commits(10);
    assert!(has_history(&project.path().join("apps/web")));
}

#[test]
fn broken_repositories_have_no_history() {
    for path in [
        ".git/objects/pack/pack-1.idx",
        ".git/objects/info/commit-graph",
        ".git/logs/HEAD",
    ] {
        for text in ["", "CGPH\u{1}\u{1}\u{9}\0OIDF", "x\n"] {
            let project = repository();
            write(&project.path().join(path), text);
            assert!(!has_history(project.path()), "{path}");
        }
    }
    assert!(!has_history(
        Project::new(&[(".git", "gitdir: /nowhere\n")]).path()
    ));
    assert!(!has_history(Project::new(&[(".git", "\u{0}")]).path()));
}
