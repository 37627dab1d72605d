// SPDX-License-Identifier: MIT
//
// Texts of drivers and files made fit for what they are written into. Names may hold anything.
#ifndef ROPE2D_VERIFY_ESCAPE_H
#define ROPE2D_VERIFY_ESCAPE_H

#include <stdio.h>

// Replaces, in place, each byte that is no part of valid UTF-8 by '?'.
void escape_utf8(char *text);

// Writes valid UTF-8 as text or attribute of XML; what XML cannot hold becomes '?'.
void escape_xml(FILE *file, const char *text);

// Writes JSON so that it stands in an element of HTML: nothing in it ends the element.
void escape_json_in_html(FILE *file, const char *json);

#endif
