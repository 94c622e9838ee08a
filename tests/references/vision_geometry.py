"""What the operators of sizes, borders, places and neighbours make, by OpenCV, Pillow and SciPy.

    python3 tests/references/vision_geometry.py > tests/references/vision_geometry.json

Nothing here comes from the Rust code but the generator of the test data. The packages' versions are in the output.
"""

import cv2
import numpy as np
import PIL
import PIL.Image
import scipy
from scipy import ndimage

from cases import Cases
from noise import noise_bytes, noise_floats

W, H = 37, 23

case = Cases(6)

RGB = noise_bytes(1, W * H * 3).reshape(H, W, 3)
GREY = noise_floats(2, W * H).reshape(H, W)

# ---- sizes

METHODS = {"nearest": cv2.INTER_NEAREST, "linear": cv2.INTER_LINEAR, "cubic": cv2.INTER_CUBIC}
for name, method in METHODS.items():
    case(f"resize_{name}_larger", cv2.resize(GREY, (61, 40), interpolation=method))
    case(f"resize_{name}_smaller", cv2.resize(GREY, (17, 11), interpolation=method))
    case(f"resize_{name}_rgb", cv2.resize(RGB, (29, 31), interpolation=method))
case("resize_area", cv2.resize(GREY, (17, 11), interpolation=cv2.INTER_AREA))
case("resize_area_rgb", cv2.resize(RGB, (17, 11), interpolation=cv2.INTER_AREA))
for name, method in {"linear": PIL.Image.BILINEAR, "cubic": PIL.Image.BICUBIC}.items():
    case(f"resize_antialias_{name}", np.asarray(PIL.Image.fromarray(GREY).resize((17, 11), method)))
    case(f"resize_antialias_{name}_rgb", np.asarray(PIL.Image.fromarray(RGB).resize((17, 11), method)))
    case(f"resize_antialias_{name}_larger", np.asarray(PIL.Image.fromarray(GREY).resize((41, 30), method)))

# ---- borders

BORDERS = {
    "constant": cv2.BORDER_CONSTANT,
    "nearest": cv2.BORDER_REPLICATE,
    "mirror": cv2.BORDER_REFLECT_101,
    "reflect": cv2.BORDER_REFLECT,
    "wrap": cv2.BORDER_WRAP,
}
SMALL = RGB[:5, :4]
for name, border in BORDERS.items():
    case(f"pad_{name}", cv2.copyMakeBorder(SMALL, 2, 3, 1, 6, border, value=(10, 20, 30)))

# ---- tables

case("lut", cv2.LUT(RGB, noise_bytes(3, 256)))
case("lut_channels", cv2.LUT(RGB, noise_bytes(4, 768).reshape(3, 256).T.reshape(256, 1, 3)))

# ---- places: SciPy, since OpenCV rounds places to parts of a pixel

AFFINE = np.float32([[0.9, -0.3, 4.25], [0.2, 1.1, -2.5], [0, 0, 1]]).astype(float)
PERSPECTIVE = np.float32([[1.1, 0.1, -3], [-0.05, 0.95, 2], [0.002, -0.001, 1]]).astype(float)
SIZE = (33, 27)
MODES = {"constant": "grid-constant", "nearest": "nearest", "mirror": "mirror", "reflect": "reflect", "wrap": "grid-wrap"}


def taken(places, order, mode):
    return ndimage.map_coordinates(GREY.astype(float), places[::-1], order=order, mode=mode, cval=0.5, prefilter=False)


y, x = np.mgrid[: SIZE[1], : SIZE[0]].astype(float)
for name, matrix in {"affine": AFFINE, "perspective": PERSPECTIVE}.items():
    u, v, w = np.tensordot(np.linalg.inv(matrix), np.stack([x, y, np.ones_like(x)]), 1)
    for border, mode in MODES.items():
        case(f"warp_{name}_{border}", taken([u / w, v / w], 1, mode))
places = np.stack([x * 1.3 - 4 + noise_floats(5, x.size).reshape(x.shape), y * 0.8 + noise_floats(6, x.size).reshape(x.shape)])
places = places.astype(np.float32)
case("remap_linear", taken(places.astype(float), 1, "grid-constant"))
case("remap_nearest", taken(np.floor(places.astype(float) + 0.5), 0, "grid-constant"))


def cubic(d, a=-0.75):
    d = np.abs(d)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((d - 5) * d + 8) * d * a - 4 * a
    return np.where(d < 1, near, np.where(d < 2, far, 0))


made = np.zeros(x.shape)
floor = np.floor(places.astype(float))
for j in range(-1, 3):
    for i in range(-1, 3):
        at = floor + np.array([i, j]).reshape(2, 1, 1)
        weight = cubic(places[0] - at[0]) * cubic(places[1] - at[1])
        made += weight * taken(at, 0, "nearest")
case("remap_cubic", made)

# ---- neighbours

for border in ("nearest", "mirror", "reflect"):
    case(f"blur_mean_{border}", cv2.blur(GREY, (5, 3), borderType=BORDERS[border]))
    case(f"blur_gaussian_{border}", ndimage.gaussian_filter(GREY.astype(float), 1.5, truncate=4, mode=MODES[border]))
case("blur_constant", ndimage.gaussian_filter(GREY.astype(float), 2.0, mode="constant", cval=0.25))
case("blur_gaussian_of", cv2.GaussianBlur(GREY, (7, 7), 1.1))
case("blur_mean_rgb", cv2.blur(RGB, (3, 7)))
case("blur_gaussian_rgb", cv2.GaussianBlur(RGB, (5, 5), 1.2))
SHAPE = noise_bytes(7, 15).reshape(3, 5) > 100
SHAPE[1, 2] = True
for name, step in {"erode": cv2.MORPH_ERODE, "dilate": cv2.MORPH_DILATE, "open": cv2.MORPH_OPEN, "close": cv2.MORPH_CLOSE}.items():
    case(f"morph_{name}", cv2.morphologyEx(RGB, step, np.ones((3, 5), np.uint8)))
    case(f"morph_{name}_shape", cv2.morphologyEx(GREY, step, SHAPE.astype(np.uint8)))

case.write({"numpy": np, "opencv": cv2, "pillow": PIL, "scipy": scipy})
