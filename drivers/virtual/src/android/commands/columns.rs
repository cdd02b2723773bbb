//! Programs about the columns of lines: `cut` and `paste`.

use crate::android::commands::filter::{lines_of, print};
use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult};

/// Lines side by side, or with `-s` each file's in one line.
pub(super) async fn paste(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &["d"]);
    let between = options.value("d").unwrap_or("\t").replace("\\n", "\n");
    let stdin = ["-".to_owned()];
    let files: &[String] = if options.rest.is_empty() {
        &stdin
    } else {
        &options.rest
    };
    let mut columns = Vec::new();
    for file in files {
        columns.push(lines_of(call, std::slice::from_ref(file)).await?);
    }
    let rows: Vec<String> = if options.has("s") {
        columns.iter().map(|lines| lines.join(&between)).collect()
    } else {
        let most = columns.iter().map(Vec::len).max().unwrap_or(0);
        let cell = |lines: &Vec<String>, row| lines.get(row).cloned().unwrap_or_default();
        (0..most)
            .map(|row| {
                let cells: Vec<String> = columns.iter().map(|lines| cell(lines, row)).collect();
                cells.join(&between)
            })
            .collect()
    };
    print(call, &rows).await
}

pub(super) async fn cut(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &["d", "f", "c", "b"]);
    let list = options
        .value("f")
        .or(options.value("c"))
        .or(options.value("b"));
    let Some(list) = list else {
        return call.fail("no -f, -c or -b", 1).await;
    };
    let ranges: Vec<(usize, usize)> = (list.split(','))
        .filter_map(|part| match part.split_once('-') {
            Some((from, to)) => Some((from.parse().unwrap_or(1), to.parse().unwrap_or(usize::MAX))),
            None => part.parse().ok().map(|n| (n, n)),
        })
        .collect();
    let within = |n: usize| ranges.iter().any(|(from, to)| (*from..=*to).contains(&n));
    let delimiter = options
        .value("d")
        .and_then(|d| d.chars().next())
        .unwrap_or('\t');
    let by_field = options.has("f");
    let lines = lines_of(call, &options.rest).await?;
    let cut: Vec<String> = (lines.into_iter())
        .map(|line| {
            if !by_field {
                let chars = line.chars().enumerate();
                return chars
                    .filter(|(i, _)| within(i + 1))
                    .map(|(_, c)| c)
                    .collect();
            }
            if !line.contains(delimiter) {
                return line;
            }
            let fields = line.split(delimiter).enumerate();
            let kept: Vec<&str> = fields
                .filter(|(i, _)| within(i + 1))
                .map(|(_, f)| f)
                .collect();
            kept.join(&delimiter.to_string())
        })
        .collect();
    print(call, &cut).await
}
