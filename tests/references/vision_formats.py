"""What `Convert` makes, by OpenCV where it has the conversion, and by the formulas of the recommendations where not.

    python3 tests/references/vision_formats.py > tests/references/vision_formats.json

Nothing here comes from the Rust code but the generator of the test data. The packages' versions are in the output.
"""

import cv2
import numpy as np

from cases import Cases
from noise import noise_bytes

W, H = 38, 26

case = Cases(6)


def rgb(seed=1):
    return noise_bytes(seed, W * H * 3).reshape(H, W, 3)


# ---- OpenCV

case("rgb_to_bgr", cv2.cvtColor(rgb(), cv2.COLOR_RGB2BGR))
case("rgb_to_grey", cv2.cvtColor(rgb(), cv2.COLOR_RGB2GRAY))
case("grey_to_rgb", cv2.cvtColor(noise_bytes(2, W * H).reshape(H, W), cv2.COLOR_GRAY2RGB))
case("rgb_to_rgba", cv2.cvtColor(rgb(), cv2.COLOR_RGB2RGBA))
planes = noise_bytes(3, W * H * 3 // 2).reshape(H * 3 // 2, W)
# OpenCV takes luma below 16 for 16, so there is none.
legal = planes.clip(16, None)
case("nv12_to_rgb", cv2.cvtColor(legal, cv2.COLOR_YUV2RGB_NV12))
case("i420_to_bgr", cv2.cvtColor(legal, cv2.COLOR_YUV2BGR_I420))
case("yuyv_to_rgb", cv2.cvtColor(noise_bytes(4, W * H * 2).reshape(H, W, 2).clip(16, None), cv2.COLOR_YUV2RGB_YUY2))
# OpenCV takes the chroma of the first pixel of four, so its four are equal here.
case("rgb_to_i420", cv2.cvtColor(rgb(5)[: H // 2, : W // 2].repeat(2, 0).repeat(2, 1), cv2.COLOR_RGB2YUV_I420))
sensor = noise_bytes(6, W * H).reshape(H, W)
for mosaic in ("RGGB", "GRBG", "GBRG", "BGGR"):
    made = cv2.cvtColor(sensor, getattr(cv2, f"COLOR_Bayer{mosaic}2RGB"))
    # OpenCV repeats the results beside the border; the border here is mirrored.
    case(f"bayer_{mosaic}", made[1:-1, 1:-1])

# ---- the recommendations

WEIGHTS = {"601": (0.299, 0.587, 0.114), "709": (0.2126, 0.7152, 0.0722), "2020": (0.2627, 0.678, 0.0593)}


def codes(luma, blue, red, limited, bits):
    """Quantization: BT.709 section 4.6 and BT.2020 table 5; the full range of JFIF for eight bits and of BT.2100 for ten."""
    k = 2 ** (bits - 8)
    if limited:
        return (219 * luma + 16) * k, (224 * blue + 128) * k, (224 * red + 128) * k
    most = 2**bits - 1
    return luma * most, blue * most + 128 * k, red * most + 128 * k


def luma_and_chroma(image, matrix):
    """E'Y, E'CB and E'CR of images of red, green and blue from 0 to 1."""
    r, g, b = WEIGHTS[matrix]
    luma = image @ np.array([r, g, b])
    return luma, (image[..., 2] - luma) / (2 - 2 * b), (image[..., 0] - luma) / (2 - 2 * r)


def rounded(values, most):
    return np.clip(np.rint(values), 0, most).astype(int)


def spread(plane, siting, axis, length):
    """A plane of chroma at all pixels along an axis: linear between the places of its samples."""
    place = (np.arange(length) - (0.5 if siting else 0.0)) / 2
    first = np.floor(place).astype(int)
    part = (place - first).reshape([-1 if a == axis else 1 for a in range(plane.ndim)])
    last = plane.shape[axis] - 1
    lower, upper = (plane.take(np.clip(first + k, 0, last), axis) for k in (0, 1))
    return lower * (1 - part) + upper * part


def decoded(luma, blue, red, matrix, limited, bits):
    k = 2.0 ** (bits - 8)
    r, g, b = WEIGHTS[matrix]
    if limited:
        y, cb, cr = (luma / k - 16) / 219, (blue / k - 128) / 224, (red / k - 128) / 224
    else:
        most = 2**bits - 1
        y, cb, cr = luma / most, (blue - 128 * k) / most, (red - 128 * k) / most
    re, bl = y + (2 - 2 * r) * cr, y + (2 - 2 * b) * cb
    return np.stack([re, (y - r * re - b * bl) / g, bl], -1)


chroma = planes[H:].reshape(H // 2, W // 2, 2).astype(float)
# Whether chroma is between two pixels: of a row, and of a column.
SITINGS = {"center": (True, True), "left": (False, True), "top_left": (False, False)}
for matrix in WEIGHTS:
    for limited in (True, False):
        blocks = chroma.repeat(2, 0).repeat(2, 1)
        made = decoded(planes[:H].astype(float), blocks[..., 0], blocks[..., 1], matrix, limited, 8)
        case(f"nv12_{matrix}_{'limited' if limited else 'full'}", rounded(made * 255, 255)[:6])
        y, cb, cr = codes(*luma_and_chroma(rgb() / 255, matrix), limited, 8)
        cb, cr = (plane.reshape(H // 2, 2, W // 2, 2).mean((1, 3)) for plane in (cb, cr))
        both = np.stack([cb, cr], -1).reshape(H // 2, W)
        case(f"to_nv12_{matrix}_{'limited' if limited else 'full'}", rounded(np.concatenate([y[:4], both[:2]]), 255))
for name, (between_x, between_y) in SITINGS.items():
    wide = spread(spread(chroma, between_y, 0, H), between_x, 1, W)
    made = decoded(planes[:H].astype(float), wide[..., 0], wide[..., 1], "709", True, 8)
    case(f"nv12_{name}", rounded(made * 255, 255)[:8])
    _, cb, cr = codes(*luma_and_chroma(rgb() / 255, "709"), True, 8)
    for axis, between in ((0, between_y), (1, between_x)):
        if between:
            cb, cr = ((p.take(np.arange(0, p.shape[axis], 2), axis) + p.take(np.arange(1, p.shape[axis], 2), axis)) / 2 for p in (cb, cr))
        else:
            def filtered(p):
                at = np.arange(0, p.shape[axis], 2)
                return (p.take(np.maximum(at - 1, 0), axis) + 2 * p.take(at, axis) + p.take(at + 1, axis)) / 4
            cb, cr = filtered(cb), filtered(cr)
    # Filtered at the left pixels, sums have two rows of equal weight.
    case(f"to_nv12_{name}", rounded(np.stack([cb, cr], -1), 255)[:4])
# YUYV: chroma of two pixels of a row. It is between them, or at the left one; `block` has no interpolation, and the mean.
pairs = noise_bytes(4, W * H * 2).reshape(H, W // 2, 4).astype(float)
luma, chroma = pairs[..., ::2].reshape(H, W), pairs[..., 1::2]
y, *own = codes(*luma_and_chroma(rgb() / 255, "709"), True, 8)
for name, between_x in {"block": None, "center": True, "left": False}.items():
    wide = chroma.repeat(2, 1) if between_x is None else spread(chroma, between_x, 1, W)
    case(f"yuyv_{name}", rounded(decoded(luma, wide[..., 0], wide[..., 1], "709", True, 8) * 255, 255)[:8])
    at = np.arange(0, W, 2)
    if between_x is False:
        both = [(p[:, np.maximum(at - 1, 0)] + 2 * p[:, at] + p[:, at + 1]) / 4 for p in own]
    else:
        both = [(p[:, at] + p[:, at + 1]) / 2 for p in own]
    case(f"to_yuyv_{name}", rounded(np.stack([y[:, ::2], both[0], y[:, 1::2], both[1]], -1), 255)[:6])
# Ten bits in the upper part of sixteen.
deep = (noise_bytes(7, W * H * 3 // 2).astype(int) * 4 + noise_bytes(8, W * H * 3 // 2) % 4).reshape(H * 3 // 2, W)
blocks = deep[H:].reshape(H // 2, W // 2, 2).repeat(2, 0).repeat(2, 1)
made = decoded(deep[:H].astype(float), blocks[..., 0], blocks[..., 1], "2020", True, 10)
case("p010_to_rgb", rounded(made * 65535, 65535)[:4])
y, cb, cr = codes(*luma_and_chroma(rgb() / 255, "2020"), True, 10)
cb, cr = (plane.reshape(H // 2, 2, W // 2, 2).mean((1, 3)) for plane in (cb, cr))
case("rgb_to_p010", np.concatenate([rounded(y, 1023)[:4], rounded(np.stack([cb, cr], -1), 1023).reshape(H // 2, W)[:2]]) * 64)

case.write({"numpy": np, "opencv": cv2})
