//! Frameworks and stacks of Maven and Gradle.

use serde_json::json;

use super::trees::{Project, assert_framework, assert_stack, framework};

const POM: &str = r#"<?xml version="1.0"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <parent>
    <groupId>org.springframework.boot</groupId>
    <artifactId>spring-boot-starter-parent</artifactId>
    <version>3.2.5</version>
  </parent>
  <groupId>com.acme</groupId>
  <artifactId>shop</artifactId>
  <properties><junit.version>5.10.2</junit.version></properties>
  <dependencies>
    <!-- <dependency><groupId>io.quarkus</groupId><artifactId>quarkus-core</artifactId></dependency> -->
    <dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-web</artifactId></dependency>
    <dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-data-jpa</artifactId></dependency>
    <dependency><groupId>org.postgresql</groupId><artifactId>postgresql</artifactId><scope>runtime</scope></dependency>
    <dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>${junit.version}</version><scope>test</scope></dependency>
  </dependencies>
</project>
"#;

#[test]
fn spring_boot_has_the_version_of_the_parent_pom() {
    let project = Project::new(&[("pom.xml", POM)]);
    let stack = json!({
        "api": "spring_mvc",
        "database": "postgresql",
        "orm": "spring_data_jpa",
        "package_manager": "maven",
        "testing": ["junit"],
    });
    assert_stack(&[("pom.xml", POM)], "spring_boot 3.2.5", &stack);
    let lines = project.describe().stack;
    assert!(
        lines.contains(&"Testing: JUnit 5.10.2".to_owned()),
        "{lines:?}"
    );
}

#[test]
fn maven_versions_may_be_in_lists_that_are_imported() {
    let pom = "<project><artifactId>a</artifactId><properties><quarkus.version>3.10.0</quarkus.version>\
               </properties><dependencyManagement><dependencies><dependency><groupId>io.quarkus.platform\
               </groupId><artifactId>quarkus-bom</artifactId><version>${quarkus.version}</version><type>pom\
               </type><scope>import</scope></dependency></dependencies></dependencyManagement>\
               <dependencies><dependency><groupId>io.quarkus</groupId><artifactId>quarkus-rest</artifactId>\
               </dependency></dependencies></project>";
    assert_framework(&[("pom.xml", pom)], "quarkus 3.10.0");
}

#[test]
fn gradle_plugins_and_dependencies_are_read_in_both_languages() {
    let groovy = "plugins {\n  id 'org.springframework.boot' version '3.2.5'\n  id 'java'\n}\n\
                  // implementation 'io.quarkus:quarkus-core:3.0'\n\
                  dependencies {\n  implementation 'org.springframework.boot:spring-boot-starter-web'\n\
                  testImplementation 'org.junit.jupiter:junit-jupiter:5.10.2'\n}\n";
    let context = Project::new(&[("build.gradle", groovy)]).describe().context;
    assert_eq!(framework(&context), "spring_boot 3.2.5");
    assert_eq!(context.tech_stack["testing"], json!(["junit"]));
    let kotlin = "val ktorVersion = \"2.3.11\"\nplugins {\n    kotlin(\"jvm\") version \"1.9.24\"\n}\n\
                  dependencies {\n    implementation(\"io.ktor:ktor-server-netty:$ktorVersion\")\n}\n";
    assert_framework(&[("build.gradle.kts", kotlin)], "ktor 2.3.11");
    let micronaut = "plugins {\n    id(\"io.micronaut.application\") version \"4.4.0\"\n}\n";
    assert_framework(&[("build.gradle.kts", micronaut)], "micronaut 4.4.0");
}

#[test]
fn gradle_catalog_has_names_and_versions() {
    let catalog = "[versions]\nagp = \"8.4.0\"\nroom = \"2.6.1\"\n[libraries]\n\
                   room-runtime = { module = \"androidx.room:room-runtime\", version.ref = \"room\" }\n\
                   mockk = \"io.mockk:mockk:1.13.10\"\n[bundles]\ntests = [\"mockk\"]\n[plugins]\n\
                   android-application = { id = \"com.android.application\", version.ref = \"agp\" }\n";
    let build = "plugins {\n    alias(libs.plugins.android.application)\n}\ndependencies {\n    \
                 implementation(libs.room.runtime)\n    testImplementation(libs.bundles.tests)\n}\n";
    let files = [
        ("gradle/libs.versions.toml", catalog),
        ("app/build.gradle.kts", build),
        ("settings.gradle.kts", "include(\":app\")\n"),
    ];
    let stack = json!({"orm": "room", "package_manager": "gradle", "testing": ["mockk"]});
    assert_stack(&files, "android 8.4.0", &stack);
}
