"""Histograms, equalization, suppression, components and drawing, by OpenCV, SciPy and scikit-image.

    python3 tests/references/vision_detection.py > tests/references/vision_detection.json

Nothing here comes from the Rust code but the generator of the test data. The packages' versions are in the output.
"""

import cv2
import numpy as np
import scipy
import skimage
from scipy import ndimage

from cases import Cases
from noise import noise_bytes, noise_floats

case = Cases(9)

# ---- histograms


def histogram(name, image, bins, low, high):
    channels = image.shape[2] if image.ndim == 3 else 1
    counts = [cv2.calcHist([image], [c], None, [bins], [low, high]) for c in range(channels)]
    case(name, np.array(counts).astype(np.int64))


W, H = 37, 23
rgb = noise_bytes(1, W * H * 3).reshape(H, W, 3)
histogram("histogram_rgb_256", rgb, 256, 0, 256)
histogram("histogram_rgb_10", rgb, 10, 20, 200)
deep = noise_bytes(2, W * H).astype(np.uint16) * 256 + noise_bytes(3, W * H)
histogram("histogram_u16_100", deep.reshape(H, W), 100, 0, 65536)
floats = noise_floats(4, W * H).reshape(H, W)
histogram("histogram_f32_7", floats, 7, -0.5, 0.75)

# ---- equalization


def picture(width, height):
    """A slope with noise, in a part of the range."""
    y, x = np.mgrid[0:height, 0:width]
    noise = noise_bytes(5, width * height).reshape(height, width)
    return ((40 + x + 2 * y + noise // 16) % 256).astype(np.uint8)


case("equalize", cv2.equalizeHist(picture(W, H)))
for width, height, across, down, limit in [
    (48, 32, 8, 8, 2.0),
    (37, 23, 4, 3, 3.0),
    (40, 23, 8, 8, 40.0),
    (37, 24, 3, 4, 0.0),
    (5, 3, 8, 8, 2.0),
    (1, 1, 2, 2, 2.0),
    (19, 1, 1, 1, 1.5),
]:
    made = cv2.createCLAHE(limit, (across, down)).apply(picture(width, height))
    case(f"adaptive_{width}_{height}_{across}_{down}", made)

# scikit-image has another algorithm: how far it is off, at a limit that means about the same.
ours = cv2.createCLAHE(2.0, (8, 8)).apply(picture(128, 96)).astype(float)
theirs = skimage.exposure.equalize_adapthist(picture(128, 96), clip_limit=2.0 / 256) * 255
DIFFERENCE = {"mean": round(float(abs(ours - theirs).mean()), 2), "most": round(float(abs(ours - theirs).max()), 2)}

# ---- suppression


def suppressed(boxes, scores, overlap):
    """The greedy rule of torchvision.ops.nms, in `f32`."""
    order = [i for i in np.argsort(-scores, kind="stable") if not np.isnan(scores[i])]
    kept = []
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    for i in order:
        lower = np.maximum(boxes[i, :2], boxes[kept, :2])
        upper = np.minimum(boxes[i, 2:], boxes[kept, 2:])
        both = np.maximum(upper - lower, 0).astype(np.float32).prod(1)
        with np.errstate(invalid="ignore", divide="ignore"):
            if not (both / (area[i] + area[kept] - both) > np.float32(overlap)).any():
                kept.append(i)
    return kept


N = 300
raw = noise_floats(6, 4 * N).reshape(N, 4)
corners = np.floor((raw[:, :2] + 1) * 50)
# OpenCV leaves out boxes without an area.
sizes = np.floor((raw[:, 2:] + 1) * 15) + 1
boxes = np.concatenate([corners, corners + sizes], 1).astype(np.float32)
# Sixteenths, so that many scores are equal.
scores = (np.floor(noise_floats(7, N) * 16) / 16).astype(np.float32)
case("suppressed_45", suppressed(boxes, scores, 0.45))
case("suppressed_0", suppressed(boxes, scores, 0.0))
fine = np.concatenate([raw[:, :2] * 50, raw[:, :2] * 50 + (raw[:, 2:] + 1) * 15], 1).astype(np.float32)
case("suppressed_fine_30", suppressed(fine, noise_floats(7, N), 0.3))
rectangles = np.concatenate([corners, sizes], 1).tolist()
case("opencv_45_above_0", np.array(cv2.dnn.NMSBoxes(rectangles, scores.tolist(), 0.0, 0.45)).ravel())

# ---- components

for name, width, height, least in [("dense", 67, 21, 128), ("even", 70, 19, 110), ("sparse", 45, 31, 150)]:
    mask = (noise_bytes(8, width * height) < least).reshape(height, width)
    for neighbours in (4, 8):
        around = ndimage.generate_binary_structure(2, 1 if neighbours == 4 else 2)
        labels, count = ndimage.label(mask, around)
        case(f"labels_{name}_{neighbours}", labels)
        if name == "sparse":
            found = [[x.start, y.start, x.stop - 1, y.stop - 1] for y, x in ndimage.find_objects(labels)]
            case(f"boxes_{neighbours}", found)
            case(f"areas_{neighbours}", np.bincount(labels.ravel())[1:])

# ---- drawing


def canvas():
    return np.zeros((30, 41), np.uint8)


drawn = canvas()
for index, (a, b) in enumerate([((3, 4), (20, 15)), ((-5, 10), (8, 50)), ((30, 2), (60, 2)), ((25, 20), (25, 25))]):
    cv2.rectangle(drawn, a, b, 50 * (index + 1), 1)
case("boxes_drawn", drawn)
drawn = canvas()
cv2.rectangle(drawn, (35, 25), (50, 27), 200, -1)
cv2.rectangle(drawn, (2, 3), (2, 3), 100, -1)
cv2.line(drawn, (0, 7), (100, 7), 60, 1)
cv2.line(drawn, (9, 20), (9, 12), 61, 1)
cv2.line(drawn, (10, 10), (10, 10), 62, 1)
case("lines_drawn", drawn)

drawn = canvas()
y, x = np.mgrid[0:30, 0:41].astype(np.float64)
for index, (x0, y0, x1, y1, thickness) in enumerate(
    [(2.0, 3.0, 30.0, 17.0, 1.0), (35.5, 1.25, 20.75, 28.5, 4.5), (-3.0, 25.0, 12.0, 35.0, 3.0), (5.0, 12.0, 5.0, 12.0, 6.0)]
):
    length = (x1 - x0) ** 2 + (y1 - y0) ** 2
    part = np.clip(((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / max(length, 1e-30), 0, 1)
    distance = np.hypot(x - x0 - part * (x1 - x0), y - y0 - part * (y1 - y0))
    drawn[distance <= thickness / 2] = 50 * (index + 1)
case("thick_lines_drawn", drawn)

mask = noise_bytes(9, W * H).reshape(H, W) < 128
colour = np.empty_like(rgb)
colour[:] = (250, 10, 131)
blended = cv2.addWeighted(rgb, 0.6, colour, 0.4, 0)
case("mask_drawn", np.where(mask[:, :, None], blended, rgb))

case.write({"numpy": np, "scipy": scipy, "opencv": cv2, "skimage": skimage}, **{"scikit-image minus opencv": DIFFERENCE})
