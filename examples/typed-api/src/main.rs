//! A client of the pet store in `specs/petstore.yaml`: calls are structs, and responses have types that the compiler
//! checks.
//!
//! `cargo run -p typed-api` starts the service locally, adds a few pets, finds a home for one, and requests a pet
//! that does not exist.

mod server;

/// The operations of `specs/petstore.yaml`, with their arguments and results.
pub mod petstore {
    toolgen_runtime::include_tools!("petstore");
}

use std::error::Error;

use jiff::civil::date;
use petstore::{CreatePet, DeletePet, GetPet, Keeper, ListPets, Pet, Status, UpdatePet};
use toolgen_runtime::engine::http::{CallError, HttpEngine, Secret, StaticCredentials};

#[tokio::main]
#[expect(clippy::print_stdout, reason = "what it prints is what it is for")]
async fn main() -> Result<(), Box<dyn Error>> {
    let shelter = Shelter::connect(server::start().await?)?;
    shelter.fill().await?;
    for pet in shelter.waiting().await? {
        println!("{} waits for a home", describe(&pet));
    }
    let rex = shelter.adopt(1, "Ada").await?;
    println!("{} is {}", describe(&rex), status(&rex).map_or("here", Status::as_str));
    for id in [2, 99] {
        match shelter.find(id).await? {
            Some(pet) => println!("number {id} is {}", describe(&pet)),
            None => println!("no pet has the number {id}"),
        }
    }
    shelter.engine.call(DeletePet::new(2).with_x_reason("moved away")).await?;
    println!("{} pets are left", shelter.engine.call(ListPets::new()).await?.len());
    Ok(())
}

/// Runs the scenario of this program.
struct Shelter {
    engine: HttpEngine,
}

impl Shelter {
    fn connect(base_url: String) -> Result<Shelter, Box<dyn Error>> {
        let key = StaticCredentials::new()
            .with("api_key", Secret::new(server::KEY))
            .with("shelter", Secret::new(server::KEY));
        Ok(Shelter { engine: HttpEngine::builder().base_url(base_url).credentials(key).build()? })
    }

    async fn fill(&self) -> Result<(), CallError> {
        let rex = petstore::Dog::new("Rex").with_born(date(2021, 3, 9)).with_barks(true);
        let tom = petstore::Cat::new("Tom", true).with_status(Status::Waiting);
        self.engine.call(CreatePet::new(rex)).await?;
        self.engine.call(CreatePet::new(tom)).await?;
        Ok(())
    }

    async fn waiting(&self) -> Result<Vec<Pet>, CallError> {
        self.engine.call(ListPets::new().with_status(Status::Waiting).with_limit(10)).await
    }

    async fn adopt(&self, id: i64, keeper: &str) -> Result<Pet, CallError> {
        let change = UpdatePet::new(id).with_status(Status::Adopted).with_keeper(Keeper::new(keeper));
        self.engine.call(change).await
    }

    /// Returns a pet, or `None` if the service has no pet with this ID.
    async fn find(&self, id: i64) -> Result<Option<Pet>, CallError> {
        match self.engine.call(GetPet::new(id)).await {
            Ok(pet) => Ok(Some(pet)),
            Err(error) => match error.body::<petstore::GetPetError>() {
                Some(problem) if problem.code == 404 => Ok(None),
                _ => Err(error),
            },
        }
    }
}

fn describe(pet: &Pet) -> String {
    match pet {
        Pet::Dog(dog) => match dog.born {
            Some(Some(born)) => format!("the dog {}, born in {}", dog.name, born.year()),
            _ => format!("the dog {}", dog.name),
        },
        Pet::Cat(cat) if cat.indoor => format!("the indoor cat {}", cat.name),
        Pet::Cat(cat) => format!("the cat {}", cat.name),
        Pet::Other(other) => format!("an animal that the document does not know: {other}"),
    }
}

fn status(pet: &Pet) -> Option<&Status> {
    match pet {
        Pet::Dog(dog) => dog.status.as_ref(),
        Pet::Cat(cat) => cat.status.as_ref(),
        Pet::Other(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn example_program_runs() -> Result<(), Box<dyn Error>> {
        main()
    }

    #[tokio::test]
    async fn adopting_a_pet_works_and_a_missing_pet_is_an_error() -> Result<(), Box<dyn Error>> {
        let shelter = Shelter::connect(server::start().await?)?;
        shelter.fill().await?;
        assert_eq!(shelter.waiting().await?.len(), 2);
        let rex = shelter.adopt(1, "Ada").await?;
        assert_eq!(describe(&rex), "the dog Rex, born in 2021");
        assert_eq!(status(&rex), Some(&Status::Adopted));
        assert_eq!(shelter.find(99).await?, None);
        let strangers = Shelter { engine: HttpEngine::builder().base_url(server::start().await?).build()? };
        assert!(strangers.find(1).await.is_err());
        Ok(())
    }
}
