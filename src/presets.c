// SPDX-License-Identifier: MIT
//
// The table of presets, made of the rows in presets_tmpl.h. It holds no address, since the loader of a shared
// library would write each anew in every process.
#include "presets.h"

#include <stddef.h>

#include "internal.h"

#define TEXT(name, title, source, golden, note) name "\0" title "\0" source "\0" golden "\0" note
#define INTERLEAVED                             ROPE2D_PAIRING_INTERLEAVED
#define HALF                                    ROPE2D_PAIRING_HALF
#define SEGMENT_HALF                            ROPE2D_PAIRING_SEGMENT_HALF
#define BLOCKS                                  .order = ROPE2D_ORDER_BLOCKS, .merge = 2
#define PLUS_ONE                                .space = {.offset = 1}
#define TRANSFORMERS(path)                      "huggingface/transformers src/transformers/models/" path " e6776aeae5ae"
#define TRANSFORMERS_ANY(path)                  "huggingface/transformers src/transformers/models/" path
#define DIFFUSERS(path)                         "huggingface/diffusers src/diffusers/models/" path " 58eb52c0803e"

// A source that several models have is a number.
#define TIMM       "\1"
#define GGML       "\2"
#define ROPE_VIT   "\3"
#define LUCIDRAINS "\4"
#define QWEN2_VL   "\5"
#define QWEN3_VL   "\6"
static const char sources[] =
    "\0huggingface/pytorch-image-models timm/layers/pos_embed_sincos.py aa4b5850c154"
    "\0ggml-org/ggml src/ggml-cpu/ops.cpp d99724f2b141"
    "\0naver-ai/rope-vit models/vit_rope.py ce85c2e56c5f"
    "\0lucidrains/rotary-embedding-torch rotary_embedding_torch/rotary_embedding_torch.py 8bb4643d1c29"
    "\0" TRANSFORMERS("qwen2_vl/modeling_qwen2_vl.py") "\0" TRANSFORMERS("qwen3_vl/modeling_qwen3_vl.py");

static const struct preset_texts {
#define ROW(model, words, ...) char model[sizeof(words)];
#include "presets_tmpl.h"
#undef ROW
} texts = {
#define ROW(model, words, ...) words,
#include "presets_tmpl.h"
#undef ROW
};

const preset_row rope2d_preset_rows[] = {
#define ROW(model, words, ...) {.texts = offsetof(struct preset_texts, model), __VA_ARGS__},
#include "presets_tmpl.h"
#undef ROW
};
const uint32_t rope2d_preset_row_count = sizeof rope2d_preset_rows / sizeof *rope2d_preset_rows;

const char *rope2d_preset_row_name(const preset_row *row) {
    return (const char *)&texts + row->texts;
}

const char *rope2d_preset_source(const char *source) {
    const uint32_t number = (uint8_t)*source;
    return number < ' ' ? rope2d_text_at(sources, number) : source;
}
