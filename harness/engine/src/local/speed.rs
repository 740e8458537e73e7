//! What makes this machine slower than its processor, as far as the system tells without measuring: the core type of
//! OpenBLAS, instruction sets that are hidden or not used, and huge pages.

use std::fs;
use std::ops::RangeInclusive;

use gpbench_record::InstructionSet;

use super::machine::value_of;
use super::numerics::Numerics;

/// The variable by which a user chooses how glibc allocates, and the part of it for huge pages.
const TUNABLES: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");

/// Processors with AVX-512: vendor, family and models as in `/proc/cpuinfo`. From the tables of the Linux kernel
/// (`arch/x86/include/asm/intel-family.h`, `arch/x86/kernel/cpu/amd.c`).
const WITH_AVX512: [(&str, u32, RangeInclusive<u32>); 9] = [
    // Skylake, Cascade Lake and Cooper Lake; Ice Lake; Sapphire Rapids; Emerald Rapids; Granite Rapids.
    ("GenuineIntel", 6, 0x55..=0x55),
    ("GenuineIntel", 6, 0x6a..=0x6a),
    ("GenuineIntel", 6, 0x6c..=0x6c),
    ("GenuineIntel", 6, 0x8f..=0x8f),
    ("GenuineIntel", 6, 0xcf..=0xcf),
    ("GenuineIntel", 6, 0xad..=0xae),
    // Zen 4, then Zen 5.
    ("AuthenticAMD", 25, 0x10..=0x1f),
    ("AuthenticAMD", 25, 0x60..=0xaf),
    ("AuthenticAMD", 26, 0..=0xff),
];

/// What the system and the environment tell.
#[derive(Debug, Default)]
struct Told<'a> {
    /// `/proc/cpuinfo`.
    processor: &'a str,
    /// When processes get huge pages: `/sys/kernel/mm/transparent_hugepage/enabled`.
    huge_pages: &'a str,
    /// `GLIBC_TUNABLES`, where it is set.
    tunables: Option<&'a str>,
    /// Whether the user has set `OPENBLAS_CORETYPE`.
    sets_core: bool,
    /// The instruction set that the user asks for, where there is one.
    asked: Option<InstructionSet>,
}

/// Remarks on this machine and its worker, a sentence each.
pub(super) fn remarks(numerics: &Numerics) -> Vec<String> {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let (processor, huge_pages) =
        (read("/proc/cpuinfo"), read("/sys/kernel/mm/transparent_hugepage/enabled"));
    let tunables = std::env::var(TUNABLES.0).ok();
    let told = Told {
        processor: &processor,
        huge_pages: &huge_pages,
        tunables: tunables.as_deref(),
        sets_core: std::env::var_os("OPENBLAS_CORETYPE").is_some(),
        asked: InstructionSet::asked().unwrap_or_default(),
    };
    told.remarks(numerics)
}

impl Told<'_> {
    fn remarks(&self, numerics: &Numerics) -> Vec<String> {
        let each = [self.old_core(numerics), self.avx512(numerics), self.huge_pages()];
        each.into_iter().flatten().collect()
    }

    /// OpenBLAS computes as on an older processor.
    fn old_core(&self, numerics: &Numerics) -> Option<String> {
        let (core, better) = (&numerics.blas_core, numerics.better_blas_core.as_ref()?);
        let remedy = if self.sets_core {
            format!("remove OPENBLAS_CORETYPE, or set it to {better}")
        } else {
            "install an OpenBLAS that is built for several processors (DYNAMIC_ARCH) and newer".to_owned()
        };
        Some(format!(
            "OpenBLAS uses its routines for {core}, which lack this processor's vector instructions: {better} has \
             them; {remedy}"
        ))
    }

    /// AVX-512 is not used although the processor has it.
    fn avx512(&self, numerics: &Numerics) -> Option<String> {
        let flags = value_of(self.processor, "flags", ':').unwrap_or_default();
        let has = |flag: &str| flags.split_whitespace().any(|word| word == flag);
        let used = &numerics.cpu_dispatch;
        if let Some(asked) = self.asked.filter(|asked| has("avx512f") && *asked != InstructionSet::Avx512) {
            let variable = InstructionSet::VARIABLE;
            return Some(format!("{variable}={asked} keeps kernels from AVX-512, which this processor has"));
        }
        if has("avx512f") || !self.is_known_for_avx512() {
            return None;
        }
        let by = if has("hypervisor") { "the hypervisor hides it" } else { "firmware or kernel hide it" };
        Some(format!(
            "this processor has AVX-512, but {by}, and kernels use {used}: choose a virtual machine that shows it, \
             or pass the host's processor on (`-cpu host`)"
        ))
    }

    /// Whether the processor is of a model with AVX-512.
    fn is_known_for_avx512(&self) -> bool {
        let of = |key| value_of(self.processor, key, ':');
        let number = |key| of(key).and_then(|text| text.parse::<u32>().ok());
        let Some(((vendor, family), model)) = of("vendor_id").zip(number("cpu family")).zip(number("model"))
        else {
            return false;
        };
        WITH_AVX512
            .iter()
            .any(|(of, in_family, models)| *of == vendor && *in_family == family && models.contains(&model))
    }

    /// Memory comes in pages of 4 KiB.
    fn huge_pages(&self) -> Option<String> {
        let lost = "large arrays cost a page fault for every 4 KiB and more time of address translation";
        if self.huge_pages.contains("[never]") {
            return Some(format!(
                "transparent huge pages are off, so that {lost}: `echo madvise > \
                 /sys/kernel/mm/transparent_hugepage/enabled` as root"
            ));
        }
        let (variable, part) = TUNABLES;
        let tunables = self.tunables.filter(|set| !set.contains(part))?;
        Some(format!("{variable}={tunables} lacks {part}, so that {lost}: add it, or remove the variable"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The processor of a virtual machine.
    fn processor(vendor: &str, family: u32, model: u32, flags: &str) -> String {
        format!(
            "processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\n\
             model name\t: Some\nflags\t\t: fpu {flags} hypervisor\n"
        )
    }

    fn numerics(dispatch: &str, better: Option<&str>) -> Numerics {
        Numerics {
            cpu_dispatch: dispatch.to_owned(),
            blas_core: "Prescott".to_owned(),
            better_blas_core: better.map(str::to_owned),
            ..Numerics::default()
        }
    }

    /// The only remark.
    #[track_caller]
    fn only(told: &Told<'_>, numerics: &Numerics) -> String {
        let remarks = told.remarks(numerics);
        assert_eq!(remarks.len(), 1, "{remarks:?}");
        remarks[0].clone()
    }

    #[test]
    fn a_machine_without_faults_has_no_remarks() {
        let processor = processor("GenuineIntel", 6, 0x8f, "avx2 avx512f");
        let told = Told {
            processor: &processor,
            huge_pages: "always [madvise] never\n",
            asked: Some(InstructionSet::Avx512),
            tunables: Some("glibc.malloc.hugetlb=1"),
            ..Told::default()
        };
        assert!(told.remarks(&numerics("avx512", None)).is_empty());
        assert!(Told::default().remarks(&Numerics::default()).is_empty());
    }

    #[test]
    fn hidden_and_unused_vectors_are_told_apart() {
        let avx2 = numerics("avx2", None);
        for (vendor, family, model, hides) in [
            ("AuthenticAMD", 25, 0x11, true),
            ("AuthenticAMD", 26, 2, true),
            ("GenuineIntel", 6, 0x8f, true),
            // Zen 3 and Alder Lake have none.
            ("AuthenticAMD", 25, 1, false),
            ("AuthenticAMD", 25, 0x50, false),
            ("GenuineIntel", 6, 0x97, false),
        ] {
            let processor = processor(vendor, family, model, "avx2");
            let remarks = Told { processor: &processor, ..Told::default() }.remarks(&avx2);
            let is_said = remarks.iter().any(|text| text.contains("the hypervisor hides it"));
            assert_eq!(is_said, hides, "{vendor} {family} {model}: {remarks:?}");
        }
        let processor = processor("AuthenticAMD", 25, 0x11, "avx2 avx512f");
        let asked = Told { processor: &processor, asked: Some(InstructionSet::Avx2), ..Told::default() };
        let text = "GPBENCH_SIMD=avx2 keeps kernels from AVX-512, which this processor has";
        assert_eq!(only(&asked, &avx2), text);
    }

    #[test]
    fn an_old_core_names_the_remedy() {
        let old = numerics("avx512", Some("SkylakeX"));
        let by_user = Told { sets_core: true, ..Told::default() };
        assert!(only(&by_user, &old).ends_with("remove OPENBLAS_CORETYPE, or set it to SkylakeX"));
        assert!(only(&Told::default(), &old).contains("DYNAMIC_ARCH"));
    }

    #[test]
    fn huge_pages_are_off_by_the_system_or_by_the_user() {
        let off = Told { huge_pages: "always madvise [never]\n", ..Told::default() };
        assert!(only(&off, &Numerics::default()).starts_with("transparent huge pages are off"));
        let set = Told { tunables: Some("glibc.malloc.check=1"), ..Told::default() };
        assert!(only(&set, &Numerics::default()).contains("lacks glibc.malloc.hugetlb=1"));
    }
}
