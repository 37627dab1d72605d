// SPDX-License-Identifier: MIT
//
// The presets: a ROW a model, with a word of its own, its texts and the rest of its preset_row. What is not
// said is zero: all channels rotate, interleaved pairs, runs of pairs of equal length, B^(-2j/d), whole
// numbers, row by row. src/presets.h says what each word means.
//
// A source without a commit has no golden case: tests/preset_formulas.c evaluates its formula again.

// clang-format off
// images, two axes
ROW(su, TEXT("su", "Su Jianlin's canonical 2D form",
  "the published formula, evaluated in double", "su_canonical", ""),
 .head_dim = 64, .axes = "xy", .base = 10000, .fp32 = FP32_NOTHING)
ROW(andsonder_rope2d, TEXT("andsonder-rope2d", "AndSonder/rope_2d for Paddle",
  "AndSonder/rope_2d rope_2d.py 82b9ec73aaba", "andsonder_rope2d",
  "square grids only; rotates V too; Paddle's use_neox_rotary_style=True means adjacent pairs"),
 .head_dim = 64, .axes = "xy", .base = 100)
ROW(rope_vit_axial, TEXT("rope-vit-axial", "RoPE-ViT, axial",
  ROPE_VIT, "ropevit_axial",
  "CLS passes through"),
 .head_dim = 64, .axes = "xy", .base = 100)
ROW(rope_vit_mixed, TEXT("rope-vit-mixed", "RoPE-ViT, mixed: learned for each layer and head",
  ROPE_VIT, "ropevit_mixed",
  "CLS passes through"),
 .head_dim = 64, .heads = 6, .axes = "xy", .division = DIVISION_DENSE, .law = PRESET_LEARNED, .fp32 = FP32_ANGLES)
ROW(timm_rope_mixed, TEXT("timm-rope-mixed", "timm vit_*_rope_mixed: learned for each layer and head",
  TIMM, "timm_rope_mixed",
  "CLS passes through"),
 .head_dim = 64, .heads = 6, .axes = "xy", .division = DIVISION_DENSE, .law = PRESET_LEARNED, .fp32 = FP32_ANGLES)
ROW(eva_02, TEXT("eva-02", "EVA-02 (VisionRotaryEmbeddingFast)",
  "baaivision/EVA EVA-02/asuka/rope.py 5623d08bb08a", "eva02_orig",
  "CLS passes through; reference: the grid trained with"),
 .head_dim = 64, .axes = "yx", .base = 10000, .space = {.rule = ROPE2D_RULE_FRACTION, .reference = 16})
ROW(timm_eva_02, TEXT("timm-eva-02", "timm EVA-02 (RotaryEmbeddingCat)",
  TIMM, "timm_eva02",
  "CLS passes through"),
 .head_dim = 64, .axes = "yx", .base = 10000, .space = {.rule = ROPE2D_RULE_FRACTION, .reference = 16})
ROW(perception_encoder, TEXT("perception-encoder", "Perception Encoder",
  "facebookresearch/perception_models core/vision_encoder/rope.py", "",
  "indices from 1 because of the CLS token at 0, which does not turn; without CLS has_offset and offset 0"),
 .head_dim = 64, .axes = "xy", .base = 10000, PLUS_ONE)
ROW(timm_pe_core, TEXT("timm-pe-core", "timm Perception Encoder (RotaryEmbeddingCat, xy, offset 1)",
  TIMM, "timm_pe_core",
  "CLS passes through"),
 .head_dim = 64, .axes = "xy", .base = 10000, .space = {.rule = ROPE2D_RULE_FRACTION, .offset = 1, .reference = 14})
ROW(timm_pixel, TEXT("timm-pixel", "timm RotaryEmbeddingCat, in_pixels=True",
  TIMM, "timm_rotary_pixel",
  "max_frequency is timm's max_res"),
 .head_dim = 64, .axes = "yx", .law = PRESET_OCTAVES, .base = 224, .fp32 = FP32_LINSPACE,
 .space = {.rule = ROPE2D_RULE_UNIT})
ROW(lucidrains_axial, TEXT("lucidrains-axial", "rotary-embedding-torch get_axial_freqs, freqs_for='lang'",
  LUCIDRAINS, "lucidrains_axial_lang",
  "rotary_dim is twice the library's dim; xPos by rope2d_xpos"),
 .head_dim = 64, .axes = "yx", .base = 10000)
ROW(lucidrains_pixel, TEXT("lucidrains-pixel", "rotary-embedding-torch get_axial_freqs, freqs_for='pixel'",
  LUCIDRAINS, "lucidrains_axial_pixel",
  "max_frequency is the library's max_freq"),
 .head_dim = 64, .axes = "yx", .law = PRESET_LINEAR, .base = 10, .fp32 = FP32_LINSPACE,
 .space = {.rule = ROPE2D_RULE_UNIT})
ROW(dinov3, TEXT("dinov3", "DINOv3",
  "facebookresearch/dinov3 dinov3/layers/rope_position_encoding.py 6876159a11b4", "dinov3 dinov3_bf16_periods",
  "CLS and registers pass through; released checkpoints hold periods rounded to bfloat16: MODEL_FP32"),
 .head_dim = 64, .pairing = HALF, .axes = "yx", .law = PRESET_PERIOD, .base = 100, .fp32 = FP32_BF16,
 .space = {.rule = ROPE2D_RULE_PATCH})
ROW(timm_dinov3, TEXT("timm-dinov3", "timm DINOv3 (RotaryEmbeddingDinoV3)",
  TIMM, "timm_dinov3",
  "CLS and registers pass through"),
 .head_dim = 64, .pairing = HALF, .axes = "yx", .law = PRESET_PERIOD, .base = 100, .fp32 = FP32_ANGLES,
 .space = {.rule = ROPE2D_RULE_PATCH})
ROW(sam_2, TEXT("sam-2", "SAM 2 memory attention",
  "facebookresearch/sam2 sam2/modeling/position_encoding.py 2b90b9f5ceec", "sam2_self sam2_cross_memory",
  "keys repeat the grid for each memory frame (repeat), and the object pointers after them pass through"),
 .head_dim = 256, .axes = "xy", .base = 10000)
ROW(sam_3, TEXT("sam-3", "SAM 3 image encoder",
  TRANSFORMERS_ANY("sam3/modeling_sam3.py"), "",
  "global layers; windowed layers count within a window of 24 x 24"),
 .head_dim = 64, .axes = "xy", .base = 10000, .space = {.rule = ROPE2D_RULE_FRACTION, .reference = 24})
ROW(croco, TEXT("croco", "CroCo v2, DUSt3R, MASt3R (RoPE2D)",
  "naver/croco models/pos_embed.py d7de07058452", "croco_dust3r",
  "the model forms angles in the tokens' type: in bf16 it is 0.19 off"),
 .head_dim = 64, .pairing = SEGMENT_HALF, .axes = "yx", .base = 100)
ROW(gemma_4_vision, TEXT("gemma-4-vision", "Gemma 4 vision tower",
  TRANSFORMERS_ANY("gemma4/modeling_gemma4.py"), "", ""),
 .head_dim = 72, .pairing = SEGMENT_HALF, .axes = "xy", .base = 100)
ROW(qwen2_vl_vision, TEXT("qwen2-vl-vision", "Qwen2-VL vision tower",
  QWEN2_VL, "qwen2vl_vision bf16_qwen2vl_vision", ""),
 .head_dim = 80, .pairing = HALF, .axes = "yx", .base = 10000, BLOCKS)
ROW(qwen2_5_vl_vision, TEXT("qwen2.5-vl-vision", "Qwen2.5-VL vision tower",
  TRANSFORMERS("qwen2_5_vl/modeling_qwen2_5_vl.py"), "qwen25vl_vision_window",
  "window: 112 pixels / 14 a patch / 2 a block"),
 .head_dim = 80, .pairing = HALF, .axes = "yx", .base = 10000, .order = ROPE2D_ORDER_WINDOWS, .merge = 2,
 .window = 4)
ROW(qwen3_vl_vision, TEXT("qwen3-vl-vision", "Qwen3-VL vision tower",
  QWEN3_VL, "qwen3vl_vision", ""),
 .head_dim = 72, .pairing = HALF, .axes = "yx", .base = 10000, BLOCKS)
ROW(glm_4_1v_vision, TEXT("glm-4.1v-vision", "GLM-4.1V vision tower",
  TRANSFORMERS("glm4v/modeling_glm4v.py"), "glm4v_vision", ""),
 .head_dim = 128, .pairing = HALF, .axes = "yx", .base = 10000, BLOCKS)
ROW(pixtral, TEXT("pixtral", "Pixtral vision tower (transformers)",
  TRANSFORMERS("pixtral/modeling_pixtral.py"), "pixtral_hf bf16_pixtral_hf",
  "the model rotates in the tokens' type"),
 .head_dim = 64, .pairing = HALF, .axes = "yx", .law = PRESET_PHASE, .base = 10000)
ROW(pixtral_mistral, TEXT("pixtral-mistral", "Pixtral vision tower (mistral-inference)",
  "mistralai/mistral-inference src/mistral_inference/rope.py 2557e12d0e18", "pixtral_mistral", ""),
 .head_dim = 64, .axes = "yx", .law = PRESET_PHASE, .base = 10000)
ROW(llama_4_vision, TEXT("llama-4-vision", "Llama 4 vision tower",
  TRANSFORMERS("llama4/modeling_llama4.py"), "llama4_vision",
  "CLS is last and passes through"),
 .head_dim = 88, .axes = "xy", .base = 10000, PLUS_ONE)
ROW(kimi_vl, TEXT("kimi-vl", "Kimi-VL (MoonViT)",
  "vllm-project/vllm vllm/model_executor/models/moonvit.py 98c9c165f390", "kimivl_moonvit", ""),
 .head_dim = 72, .axes = "xy", .division = DIVISION_ALTERNATING, .base = 10000)
ROW(kimi_k2_5, TEXT("kimi-k2.5", "Kimi-K2.5 vision tower (transformers)",
  TRANSFORMERS_ANY("kimi_k25/modeling_kimi_k25.py"), "",
  "code that follows the original checkpoint pairs adjacent channels: that is kimi-vl"),
 .head_dim = 72, .pairing = HALF, .axes = "xy", .division = DIVISION_ALTERNATING, .base = 10000)
ROW(lightglue, TEXT("lightglue", "LightGlue: learned, on keypoints",
  TRANSFORMERS("lightglue/modeling_lightglue.py"), "lightglue",
  "coordinates by rope2d_keypoints"),
 .head_dim = 64, .axes = "xy", .division = DIVISION_DENSE, .law = PRESET_LEARNED, .fp32 = FP32_ANGLES,
 .places = PLACE_UNKNOWN)
ROW(efficient_loftr, TEXT("efficient-loftr", "EfficientLoFTR",
  TRANSFORMERS_ANY("efficientloftr/modeling_efficientloftr.py"), "",
  "d runs over the channels of all heads"),
 .head_dim = 32, .heads = 8, .axes = "yx", .division = DIVISION_ALTERNATING, .base = 10000, PLUS_ONE)

// images and video, three and four axes
ROW(v_jepa_2, TEXT("v-jepa-2", "V-JEPA 2",
  "facebookresearch/vjepa2 src/models/utils/modules.py c2963a47433e", "vjepa2_3d_MISFIT",
  "two angles to a pair: no rotation, and without an inverse; kept for its checkpoints"),
 .head_dim = 64, .rotary = 60, .axes = "tyx", .law = PRESET_TWO_ANGLES, .base = 10000)
ROW(flux_1, TEXT("flux.1", "FLUX.1",
  "black-forest-labs/flux src/flux/math.py 802fb4713906", "flux1",
  "the first axis is 0, or the number of a reference image (offset)"),
 .head_dim = 128, .axes = "tyx", .pairs = {8, 28, 28}, .base = 10000, .text = TEXT_STILL)
ROW(flux_2, TEXT("flux.2", "FLUX.2",
  "black-forest-labs/flux2 src/flux2/model.py ab7cca68018a", "flux2", ""),
 .head_dim = 128, .axes = "tyxl", .base = 2000, .text = TEXT_LAST)
ROW(lumina_2, TEXT("lumina-2", "Lumina-Image 2.0",
  "Alpha-VLLM/Lumina-Image-2.0 models/model.py 4a4d6f856115", "lumina2", ""),
 .head_dim = 96, .axes = "tyx", .base = 10000, .fp32 = FP32_NOTHING, .text = TEXT_FIRST)
ROW(z_image, TEXT("z-image", "Z-Image",
  "Tongyi-MAI/Z-Image src/zimage/transformer.py c7ec13578cc2", "zimage",
  "the model's sequence has the image first"),
 .head_dim = 128, .axes = "tyx", .pairs = {16, 24, 24}, .base = 256, .fp32 = FP32_NOTHING, .text = TEXT_FIRST,
 .first = 1)
ROW(hunyuan_dit, TEXT("hunyuan-dit", "HunyuanDiT",
  "Tencent/HunyuanDiT hydit/modules/posemb_layers.py 368280ec3511", "hunyuandit",
  "the image fills a square of reference x reference and is centred in it"),
 .head_dim = 88, .axes = "xy", .base = 10000, .space = {.rule = ROPE2D_RULE_CROP, .reference = 32})
ROW(hunyuan_video, TEXT("hunyuan-video", "HunyuanVideo",
  "Tencent/HunyuanVideo hyvideo/modules/posemb_layers.py fa14b001c18f", "hunyuanvideo", ""),
 .head_dim = 128, .axes = "tyx", .pairs = {8, 28, 28}, .base = 256, .text = TEXT_STILL)
ROW(cogvideox, TEXT("cogvideox", "CogVideoX",
  DIFFUSERS("embeddings.py"), "cogvideox",
  "crops of a larger grid: ROPE2D_RULE_CROP in rope2d_sequence"),
 .head_dim = 64, .axes = "tyx", .pairs = {8, 12, 12}, .base = 10000, .text = TEXT_STILL)
ROW(wan_2_1, TEXT("wan-2.1", "Wan 2.1",
  "Wan-Video/Wan2.1 wan/modules/model.py 9737cba9c1c3", "wan21",
  "rotates in double; padding passes through"),
 .head_dim = 128, .axes = "tyx", .pairs = {22, 21, 21}, .base = 10000, .fp32 = FP32_NOTHING)
ROW(qwen_image, TEXT("qwen-image", "Qwen-Image, scale_rope=True",
  DIFFUSERS("transformers/transformer_qwenimage.py"), "qwenimage",
  "the model's text comes first"),
 .head_dim = 128, .axes = "tyx", .pairs = {8, 28, 28}, .base = 10000, .space = {.rule = ROPE2D_RULE_CENTRED},
 .text = TEXT_BESIDE, .places = PLACE_IMAGE_ON_T)
ROW(ltx_video, TEXT("ltx-video", "LTX-Video",
  DIFFUSERS("transformers/transformer_ltx.py"), "ltx_video",
  "angles reach 15,700 radians: only MODEL_FP32 follows the model's to 1e-6. scale of t: 8 / frames per second"),
 .head_dim = 64, .heads = 32, .axes = "tyx", .law = PRESET_CHANNELS, .base = 10000, .fp32 = FP32_LINSPACE,
 .space = {.rule = ROPE2D_RULE_EXTENT, .scale = 32, .reference = 2048}, .time = {ROPE2D_RULE_EXTENT, .scale = 8, .parts = 25,
 .reference = 20})
ROW(ltx_2, TEXT("ltx-2", "LTX-2, video",
  "huggingface/diffusers src/diffusers/models/transformers/transformer_ltx2.py", "",
  "rope_type 'split'; time at 24 frames a second"),
 .head_dim = 128, .heads = 32, .pairing = HALF, .axes = "tyx", .law = PRESET_CHANNELS, .base = 10000,
 .fp32 = FP32_ANGLES, .space = {.rule = ROPE2D_RULE_MIDDLE, .scale = 32, .reference = 2048},
 .time = {ROPE2D_RULE_MIDDLE, .offset = -7, .scale = 8, .parts = 24, .reference = 20})
ROW(mochi, TEXT("mochi", "Mochi: learned for each head",
  "huggingface/diffusers src/diffusers/models/transformers/transformer_mochi.py", "", ""),
 .head_dim = 128, .heads = 24, .axes = "tyx", .division = DIVISION_DENSE, .law = PRESET_LEARNED, .fp32 = FP32_ANGLES,
 .space = {.rule = ROPE2D_RULE_AREA, .reference = 192}, .text = TEXT_STILL)
ROW(cosmos, TEXT("cosmos", "Cosmos",
  "huggingface/diffusers src/diffusers/models/transformers/transformer_cosmos.py", "",
  "frame_step: 24 / frames per second"),
 .head_dim = 128, .pairing = HALF, .axes = "tyx", .pairs = {22, 21, 21}, .base = 10000, .stretch = {2, 1, 1})
ROW(minimax_h3, TEXT("minimax-h3", "MiniMax-H3",
  "huggingface/diffusers src/diffusers/models/transformers/transformer_minimax_h3.py", "", ""),
 .head_dim = 128, .rotary = 96, .pairing = HALF, .axes = "tyx", .base = 10000)

// language models over text, images and video: M-RoPE
ROW(qwen2_vl, TEXT("qwen2-vl", "Qwen2-VL and Qwen2.5-VL, language side (M-RoPE)",
  QWEN2_VL, "qwen2vl_mrope_llm",
  "Qwen2.5-VL: frame_step is seconds per frame times tokens per second"),
 .head_dim = 128, .pairing = HALF, .axes = "tyx", .pairs = {16, 24, 24}, .law = PRESET_WHOLE, .base = 1000000,
 .cell = 2, .text = TEXT_ALL, .places = PLACE_WHOLE_FRAMES)
ROW(qwen3_vl, TEXT("qwen3-vl", "Qwen3-VL, language side (interleaved M-RoPE)",
  QWEN3_VL, "qwen3vl_imrope_llm",
  "each frame of a video is an image of its own, with text between"),
 .head_dim = 128, .pairing = HALF, .axes = "tyx", .division = DIVISION_MODULO, .pairs = {24, 20, 20},
 .law = PRESET_WHOLE, .base = 5000000, .cell = 2, .text = TEXT_ALL, .places = PLACE_WHOLE_FRAMES)
ROW(qwen3_5, TEXT("qwen3.5", "Qwen3.5, language side (partial, interleaved M-RoPE)",
  "huggingface/transformers src/transformers/models/qwen3_5/modeling_qwen3_5.py", "", ""),
 .head_dim = 256, .rotary = 64, .pairing = HALF, .axes = "tyx", .division = DIVISION_MODULO, .pairs = {11, 11, 10},
 .law = PRESET_WHOLE, .base = 10000000, .cell = 2, .text = TEXT_ALL, .places = PLACE_WHOLE_FRAMES)
ROW(glm_4v, TEXT("glm-4v", "GLM-4.1V, language side (partial M-RoPE)",
  TRANSFORMERS_ANY("glm4v/modeling_glm4v.py"), "", ""),
 .head_dim = 128, .rotary = 64, .axes = "tyx", .pairs = {8, 12, 12}, .law = PRESET_WHOLE, .base = 10000, .cell = 2,
 .text = TEXT_ALL, .places = PLACE_WHOLE_FRAMES)
ROW(ernie_4_5_vl, TEXT("ernie-4.5-vl", "ERNIE-4.5-VL, language side",
  "huggingface/transformers src/transformers/models/ernie4_5_vl_moe/modeling_ernie4_5_vl_moe.py", "", ""),
 .head_dim = 128, .axes = "tyx", .division = DIVISION_SPACE_FIRST, .pairs = {20, 22, 22}, .law = PRESET_WHOLE,
 .base = 500000, .cell = 2, .text = TEXT_ALL, .places = PLACE_WHOLE_FRAMES)

// ggml
ROW(ggml_vision, TEXT("ggml-vision", "ggml GGML_ROPE_TYPE_VISION",
  GGML, "ggml_vision", ""),
 .head_dim = 80, .pairing = HALF, .axes = "yx", .base = 10000, .fp32 = FP32_STEPS, BLOCKS)
ROW(ggml_mrope, TEXT("ggml-mrope", "ggml GGML_ROPE_TYPE_MROPE",
  GGML, "ggml_mrope", ""),
 .head_dim = 128, .pairing = HALF, .axes = "tyx", .pairs = {16, 24, 24}, .law = PRESET_WHOLE, .base = 1000000,
 .fp32 = FP32_STEPS, .cell = 2, .text = TEXT_ALL, .places = PLACE_WHOLE_FRAMES)
ROW(ggml_imrope, TEXT("ggml-imrope", "ggml GGML_ROPE_TYPE_IMROPE",
  GGML, "ggml_imrope",
  "pairs past every section take a fourth position, which is 0"),
 .head_dim = 128, .pairing = HALF, .axes = "tyx", .division = DIVISION_MODULO_REST, .pairs = {24, 20, 20},
 .law = PRESET_WHOLE, .base = 5000000, .fp32 = FP32_STEPS, .cell = 2, .text = TEXT_ALL,
 .places = PLACE_WHOLE_FRAMES)
ROW(ggml_rope2d, TEXT("ggml-rope2d", "llama.cpp build_rope_2d (Pixtral)",
  "ggml-org/llama.cpp tools/mtmd/clip.cpp d99724f2b141", "ggml_rope2d_pixtral", ""),
 .head_dim = 64, .axes = "yx", .law = PRESET_PHASE, .base = 10000, .fp32 = FP32_STEPS)

// one axis
ROW(llama, TEXT("llama", "LLaMA 1 and 2 (Meta's code)",
  "meta-llama/llama llama/model.py", "",
  "Hugging Face's port permutes the weights: gpt-neox"),
 .head_dim = 128, .axes = "t", .base = 10000, .text = TEXT_ALL)
ROW(llama_3, TEXT("llama-3", "LLaMA 3 (Meta's code)",
  "meta-llama/llama3 llama/model.py", "",
  "3.1 and later: ROPE2D_LAW_LLAMA3, factor 8, original_length 8192"),
 .head_dim = 128, .axes = "t", .base = 500000, .text = TEXT_ALL)
ROW(gpt_j, TEXT("gpt-j", "GPT-J",
  TRANSFORMERS_ANY("gptj/modeling_gptj.py"), "", ""),
 .head_dim = 256, .rotary = 64, .axes = "t", .base = 10000, .text = TEXT_ALL)
ROW(gpt_neox, TEXT("gpt-neox", "GPT-NeoX, and LLaMA in transformers",
  TRANSFORMERS_ANY("gpt_neox/modeling_gpt_neox.py"), "",
  "GPT-NeoX-20B: head_dim 96, rotary_dim 24"),
 .head_dim = 128, .pairing = HALF, .axes = "t", .base = 10000, .text = TEXT_ALL)
ROW(gemma, TEXT("gemma", "Gemma",
  TRANSFORMERS_ANY("gemma/modeling_gemma.py"), "", ""),
 .head_dim = 256, .pairing = HALF, .axes = "t", .base = 10000, .text = TEXT_ALL)
// clang-format on
