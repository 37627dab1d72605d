// SPDX-License-Identifier: MIT
//
// What reports are written as: whatever stands in them, a file keeps its form.
#ifndef FUZZ_PAGE_H
#define FUZZ_PAGE_H

// The page has its own two scripts and no other.
void page_check_html(const char *path);
// Each character of a text that would be markup is written as another.
void page_check_xml(const char *path);

#endif
