//! Runs the load that a JSON file describes and prints its result, for trying the engine alone.

use std::error::Error;
use std::time::Duration;

use pgassay_engine::Load;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .ok_or("usage: load CONFIGURATION.json")?;
    let load = Load::new(&std::fs::read_to_string(path)?)?;
    load.connect()?;
    load.start(None)?;
    while !load.wait(Duration::from_secs(1))? {
        eprintln!("{}", serde_json::to_string(&load.progress())?);
    }
    println!("{}", load.outcome()?.to_json()?);
    Ok(())
}
