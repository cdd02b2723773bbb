"""Reads the test runner's JUnit file: the ten tests that took longest, then how many passed and failed."""

import sys
import xml.etree.ElementTree as junit

cases = list(junit.parse(sys.argv[1]).getroot().iter("testcase"))
failed = sum(case.find("failure") is not None or case.find("error") is not None for case in cases)
print("\nThe ten slowest:")
for case in sorted(cases, key=lambda case: -float(case.get("time")))[:10]:
    print(f"{float(case.get('time')):7.1f} s  {case.get('classname')} {case.get('name')}")
print(f"\n{len(cases) - failed} passed, {failed} failed")
