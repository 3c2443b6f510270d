// Tests of plans: text and JSON are the same value; errors name the invalid word and the valid ones.
#include <gtest/gtest.h>

#include "core/plan/plan.hpp"

namespace penstock {
namespace {

const Descriptor hdf5{"hdf5", "", {}, ""},
    raw{"raw", "", {{"sidecar", Parameter::Type::choice, "json|none", "json", ""}}, ""};
const Descriptor single{"single", "", {}, ""},
    per_rank{"per_rank", "", {{"split", Parameter::Type::choice, "none|group", "none", ""}}, ""};
const Descriptor independent{
    "independent", "", {{"io", Parameter::Type::choice, "buffered|direct|mmap", "buffered", ""}}, ""};
const Descriptor two_phase{"two_phase",
                           "",
                           {{"writers", Parameter::Type::integer, "0", "0", ""},
                            {"io", Parameter::Type::choice, "auto|buffered|direct|mmap", "auto", ""},
                            {"buffer_bytes", Parameter::Type::bytes, "4096", "16MiB", ""}},
                           ""};
const Descriptor parts{"parts", "", {{"parts", Parameter::Type::integer, "0", "0", ""}}, ""};
const Descriptor rank_order{"rank_order", "", {}, ""};
const Descriptor servers{"servers", "", {}, "needs a server"};
const Descriptor stack{"stack", "", {{"collective", Parameter::Type::boolean, "", "false", ""}}, ""};
const Descriptor stack_common{
    "stack_common", "", {{"durability", Parameter::Type::choice, "full|none", "full", ""}}, ""};
const Descriptor common{"common",
                        "",
                        {{"placement", Parameter::Type::choice, "single|per_rank|parts|rank_order", "single", ""},
                         {"durability", Parameter::Type::choice, "full|none", "full", ""},
                         {"preallocate", Parameter::Type::boolean, "", "true", ""},
                         {"block", Parameter::Type::bytes, "4096", "4KiB", ""}},
                        ""};
const Vocabulary all{
    {&hdf5, &raw}, {&single, &per_rank, &parts, &rank_order}, {&independent, &two_phase, &servers}, {&stack}, &common,
    &stack_common};

Plan good(std::string_view text, std::string_view format = "hdf5") {
  const auto plan = parse_plan(text, format, all);
  EXPECT_TRUE(plan.ok()) << text << ": " << plan.status().message();
  return plan.ok() ? *plan : Plan();
}

TEST(Plan, ShortFormsAreFilledUp) {
  for (const char* text : {"hdf5/independent", "independent"}) {
    const Plan plan = good(text);
    EXPECT_EQ(plan.format, "hdf5");
    EXPECT_EQ(plan.transport, "independent");
    EXPECT_EQ(plan.placement, "single");
    EXPECT_EQ(plan.settings.word("io"), "buffered");
    EXPECT_EQ(plan.settings.word("durability"), "full");
    EXPECT_EQ(plan.settings.integer("block"), 4096);
  }
  EXPECT_EQ(good("").text(all), good("hdf5").text(all));
  EXPECT_EQ(good("raw").format, "raw");
  EXPECT_EQ(good("independent", "raw").format, "raw");
  EXPECT_EQ(good("hdf5/independent", "raw").format, "hdf5");
}

TEST(Plan, TheDefaultMayHaveOtherParameters) {
  for (const char* text : {":durability=none", "auto:durability=none", "hdf5:durability=none",
                           "hdf5/auto:durability=none", R"({"transport": "auto", "durability": "none"})"})
    EXPECT_EQ(good(text).text(all), "hdf5/two_phase:durability=none") << text;
  for (const char* text : {"", "auto", ":", "hdf5/auto"}) EXPECT_EQ(good(text, "raw").transport, "two_phase") << text;
  EXPECT_EQ(good("auto:io=direct", "raw").text(all), "raw/two_phase:io=direct");
  EXPECT_EQ(good(":parts=3").placement, "parts");
}

TEST(Plan, WhoeverNamesNoTransportLeavesItOpen) {
  for (const char* text : {"", "auto", "hdf5", "hdf5/auto", ":durability=none,parts=3"})
    EXPECT_TRUE(good(text).open_transport) << text;
  for (const char* text : {"two_phase", "hdf5/two_phase", ":writers=0", "auto:io=auto", "stack"})
    EXPECT_FALSE(good(text).open_transport) << text;
}

TEST(Plan, AnotherTransportKeepsTheRest) {
  const Plan plan = good(":durability=none,parts=3,io=direct", "raw");
  EXPECT_EQ(with_transport(plan, "independent", all)->text(all),
            "raw/independent:durability=none,parts=3,placement=parts");
  EXPECT_EQ(with_transport(plan, "independent:io=mmap,durability=full", all)->text(all),
            "raw/independent:durability=none,io=mmap,parts=3,placement=parts");
  EXPECT_EQ(with_transport(plan, "nonsense", all).status().code(), Code::invalid);
  for (const char* text : {"independent:durability=none", "per_process", "two_phase:env.A=1"})
    EXPECT_EQ(with_transport(plan, text, all).status().code(), Code::invalid) << text;
  EXPECT_EQ(with_transport(plan, "servers", all).status().code(), Code::unsupported);
}

TEST(Plan, TextIsCanonical) {
  const std::pair<const char*, const char*> table[] = {
      {"hdf5/two_phase", "hdf5/two_phase"},
      {"two_phase:writers=2,io=direct", "hdf5/two_phase:io=direct,writers=2"},
      {"two_phase:writers=0,buffer_bytes=16777216", "hdf5/two_phase"},
      {"two_phase:buffer_bytes=64KiB", "hdf5/two_phase:buffer_bytes=65536"},
      {"raw/independent:placement=per_rank,split=group", "raw/independent:placement=per_rank,split=group"},
      {"raw/two_phase:durability=none,preallocate=false", "raw/two_phase:durability=none,preallocate=false"},
      {"raw/gather", "raw/two_phase:writers=1"}};
  for (const auto& [text, canonical] : table) {
    const Plan plan = good(text);
    EXPECT_EQ(plan.text(all), canonical);
    EXPECT_EQ(good(plan.text(all)).text(all), canonical);
  }
}

TEST(Plan, TextAndJsonRoundTrip) {
  for (const char* text :
       {"hdf5/two_phase:writers=3,io=mmap", "raw/independent:placement=per_rank", "raw/per_process", "gather"}) {
    const Plan plan = good(text);
    const Plan back = good(plan.json(), "raw");
    EXPECT_EQ(back.text(all), plan.text(all)) << plan.json();
    EXPECT_EQ(back.json(), plan.json());
    EXPECT_EQ(back.placement, plan.placement);
    EXPECT_EQ(back.settings.all(), plan.settings.all());
  }
  EXPECT_EQ(good(R"({"transport": "two_phase", "writers": 2, "preallocate": false})").text(all),
            "hdf5/two_phase:preallocate=false,writers=2");
}

TEST(Plan, AliasesMeanWhatTheirRowSays) {
  for (const Alias& alias : aliases()) {
    const Plan plan = good("raw/" + std::string(alias.name));
    EXPECT_EQ(plan.transport, alias.transport);
    EXPECT_EQ(plan.text(all),
              good("raw/" + std::string(alias.transport) + ":" + std::string(alias.parameters)).text(all));
  }
  EXPECT_EQ(good("raw/per_process").placement, "per_rank");
  EXPECT_EQ(good("raw/per_process:placement=single").placement, "single");
  EXPECT_EQ(good("gather:writers=2").settings.integer("writers"), 2);
}

struct Bad {
  const char* text;
  Code code;
  const char* said;   // the wrong word
  const char* known;  // one that exists
};

TEST(Plan, WhatCannotBeIsNamedWithWhatCan) {
  const Bad table[] = {{"tar/two_phase", Code::invalid, "tar", "hdf5"},
                       {"hdf5/three_phase", Code::invalid, "three_phase", "two_phase"},
                       {"nonsense", Code::invalid, "nonsense", "independent"},
                       {"hdf5/two_phase:writer=2", Code::invalid, "writer", "writers"},
                       {"hdf5/two_phase:io=fast", Code::invalid, "fast", "direct"},
                       {"hdf5/two_phase:writers=-1", Code::invalid, "writers", "0"},
                       {"hdf5/two_phase:writers", Code::invalid, "writers", ""},
                       {"hdf5/two_phase:writers=", Code::invalid, "writers", ""},
                       {"hdf5/two_phase:=2", Code::invalid, "=2", ""},
                       {"hdf5/two_phase:placement=both", Code::invalid, "both", "per_rank"},
                       {"hdf5/independent:writers=2", Code::invalid, "writers", "io"},
                       {"hdf5/two_phase:split=group", Code::invalid, "split", "placement"},
                       {"hdf5/servers", Code::unsupported, "servers", "needs a server"},
                       {"{\"transport\": ", Code::invalid, "", ""},
                       {"{\"transport\": \"none such\"}", Code::invalid, "none such", "two_phase"},
                       {"{\"writers\": \"x\"}", Code::invalid, "writers", ""},
                       {"{\"writers\": [2]}", Code::invalid, "writers", ""},
                       {"hdf5/two_phase:env.A=\xE6", Code::invalid, "byte 22", "UTF-8"},
                       {"hdf5/two_phase:env.\xCF\x89=\xCF", Code::invalid, "byte 23", "UTF-8"},
                       {"HDF5", Code::invalid, "no format, transport or engine 'HDF5'", "did you mean 'hdf5'?"},
                       {"gathr", Code::invalid, "gathr", "did you mean 'gather'?"},
                       {"hdf5/two_phase writers=2", Code::invalid, "has a blank", "'hdf5/two_phase:writers=2'"},
                       {"hdf5/two_phase:writers=2,writers=3", Code::invalid, "writers", "twice"},
                       {"durability=none", Code::invalid, "begins with a parameter", "':durability=none'"},
                       {"hdf5/two_phase/x", Code::invalid, "two_phase/x", "two_phase"}};
  for (const Bad& bad : table) {
    const auto plan = parse_plan(bad.text, "hdf5", all);
    ASSERT_FALSE(plan.ok()) << bad.text;
    EXPECT_EQ(plan.status().code(), bad.code) << bad.text;
    EXPECT_NE(plan.status().message().find(bad.said), std::string::npos) << plan.status().message();
    EXPECT_NE(plan.status().message().find(bad.known), std::string::npos) << plan.status().message();
  }
}

TEST(Plan, HintsOfTheEnvironmentMayBeAnyBytes) {
  Plan plan = *parse_plan("hdf5/two_phase", "hdf5", all);
  plan.hints["cb_nodes"] = "\xE6";
  EXPECT_NE(plan.json().find("cb_nodes"), std::string::npos);
}

TEST(Plan, LayoutAndPartsSayThePlacement) {
  EXPECT_EQ(good("raw/independent:layout=chunks").text(all), "raw/independent:placement=rank_order");
  EXPECT_EQ(good("raw/independent:layout=global").text(all), "raw/independent");
  EXPECT_EQ(good("hdf5/two_phase:parts=3").text(all), "hdf5/two_phase:parts=3,placement=parts");
  EXPECT_FALSE(parse_plan("raw/independent:layout=other", "hdf5", all).ok());
}

TEST(Plan, AnEngineIsOneWord) {
  const Plan plan = good("stack:collective=true");
  EXPECT_EQ(plan.engine, "stack");
  EXPECT_EQ(plan.format + plan.transport + plan.placement, "");
  EXPECT_TRUE(plan.settings.boolean("collective"));
  EXPECT_EQ(plan.text(all), "stack:collective=true");
  EXPECT_EQ(good(plan.json()).json(), plan.json());
  const auto wrong = parse_plan("stack:block=4KiB", "hdf5", all);
  EXPECT_EQ(wrong.status().message(), "'stack' has no parameter 'block'; it has durability, collective");
}

}  // namespace
}  // namespace penstock
