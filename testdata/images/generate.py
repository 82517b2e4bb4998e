#!/usr/bin/env python3
"""Writes small image files of every format and form that ImageDecoder reads, and what they hold as RGB in pixels.npz,
beside this file.

usage: generate.py            (needs numpy and Pillow)

Lossless files hold what was put in. Of lossy ones Pillow's own reading is recorded; decoders may differ from it by
rounding. Forms that Pillow does not write are put together here.
"""
import io
import pathlib
import struct
import zlib

import numpy as np
from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent
HEIGHT, WIDTH = 7, 11

y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
RGB = np.stack([x * 23, y * 40, 255 - 11 * x - 20 * y], -1).astype(np.uint8)
GRAY = (x * 19 + y * 9).astype(np.uint8)
GRAY16 = (x * 5003 + y * 2111).astype(np.uint16)
BITS = ((x * x + y) % 3 == 0).astype(np.uint8)
ALPHA = (255 - 36 * y).astype(np.uint8)
INDEX = ((x + 2 * y) % 4).astype(np.uint8)
PALETTE = np.array([[200, 10, 30], [5, 160, 90], [17, 40, 220], [250, 240, 7]], np.uint8)

pixels = {}


def record(name, data, rgb):
    (HERE / name).write_bytes(data)
    pixels[name] = np.ascontiguousarray(rgb, np.uint8)


def from_gray(gray):
    return np.repeat(gray[:, :, None], 3, 2)


def to_8_bits(samples, highest):
    return ((samples.astype(np.int64) * 255 + highest // 2) // highest).astype(np.uint8)


def pillow(name, array, rgb=None, mode=None, **options):
    """Saves through Pillow; without rgb what Pillow reads back counts."""
    image = array if isinstance(array, Image.Image) else Image.fromarray(array, mode)
    file = io.BytesIO()
    ending = name.rsplit(".", 1)[1]
    if ending == "j2k":
        options["no_jp2"] = True
    image.save(file, format={"jp2": "JPEG2000", "j2k": "JPEG2000", "jpg": "JPEG", "tif": "TIFF"}.get(ending, ending), **options)
    data = file.getvalue()
    record(name, data, np.array(Image.open(io.BytesIO(data)).convert("RGB")) if rgb is None else rgb)


def indexed():
    image = Image.fromarray(INDEX, "P")
    image.putpalette(PALETTE.tobytes())
    return image


def png(color_type, depth, samples, interlaced=False, chunks=b""):
    """samples [height, width, channels]."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    def rows(part):
        out = b""
        for row in part:
            if depth == 16:
                out += b"\0" + row.astype(">u2").tobytes()
            elif depth == 8:
                out += b"\0" + row.astype(np.uint8).tobytes()
            else:
                bits = np.unpackbits(row.astype(np.uint8).reshape(-1, 1), axis=1)[:, 8 - depth:]
                out += b"\0" + np.packbits(bits.reshape(-1)).tobytes()
        return out

    height, width = samples.shape[:2]
    passes = [(0, 0, 1, 1)]
    if interlaced:
        passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
    body = b"".join(rows(samples[y0::dy, x0::dx]) for y0, x0, dy, dx in passes if samples[y0::dy, x0::dx].size)
    header = struct.pack(">IIBBBBB", width, height, depth, color_type, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunks_of(chunk, chunks) + chunk(b"IDAT", zlib.compress(body)) +
            chunk(b"IEND", b""))


def chunks_of(chunk, chunks):
    return b"".join(chunk(kind, body) for kind, body in chunks) if chunks else b""


def bmp(bits, raster, header_size=40, compression=0, palette=b"", extra=b"", top_down=False, colors=0):
    height = -HEIGHT if top_down else HEIGHT
    start = 14 + header_size + len(extra) * (header_size == 40) + len(palette)
    if header_size == 12:
        header = struct.pack("<IHHHH", 12, WIDTH, HEIGHT, 1, bits)
    else:
        header = struct.pack("<IiiHHIIiiII", header_size, WIDTH, height, 1, bits, compression, len(raster), 0, 0, colors, 0)
        header += extra if header_size == 40 else extra.ljust(header_size - 40, b"\0")
    return b"BM" + struct.pack("<IHHI", start + len(raster), 0, 0, start) + header + palette + raster


def bmp_rows(rows):
    return b"".join(row + b"\0" * (-len(row) % 4) for row in rows)


def write_bmp():
    upward = slice(None, None, -1)
    blue_first = RGB[:, :, ::-1]
    colors = np.concatenate([PALETTE[:, ::-1], np.zeros((4, 1), np.uint8)], 1).tobytes()
    by_index = PALETTE[INDEX]
    record("bmp_24.bmp", bmp(24, bmp_rows(row.tobytes() for row in blue_first[upward])), RGB)
    record("bmp_24_top_down.bmp", bmp(24, bmp_rows(row.tobytes() for row in blue_first), top_down=True), RGB)
    record("bmp_24_os2.bmp", bmp(24, bmp_rows(row.tobytes() for row in blue_first[upward]), header_size=12), RGB)
    with_alpha = np.dstack([blue_first, ALPHA])
    record("bmp_32.bmp", bmp(32, with_alpha[upward].tobytes()), RGB)
    masks = struct.pack("<IIII", 0xff, 0xff00, 0xff0000, 0xff000000)
    red_first = np.dstack([RGB, ALPHA])
    record("bmp_32_masks_v4.bmp", bmp(32, red_first[upward].tobytes(), header_size=108, compression=3, extra=masks), RGB)
    record("bmp_32_masks.bmp", bmp(32, red_first[upward].tobytes(), compression=3, extra=masks[:12]), RGB)
    r, g, b = (RGB[:, :, c].astype(np.uint16) for c in range(3))
    five = to_8_bits(RGB >> 3, 31)
    words = (r >> 3 << 10 | g >> 3 << 5 | b >> 3).astype("<u2")
    record("bmp_16.bmp", bmp(16, bmp_rows(row.tobytes() for row in words[upward])), five)
    words = (r >> 3 << 11 | g >> 2 << 5 | b >> 3).astype("<u2")
    six = np.dstack([five[:, :, 0], to_8_bits(RGB[:, :, 1] >> 2, 63), five[:, :, 2]])
    masks = struct.pack("<III", 0xf800, 0x7e0, 0x1f)
    record("bmp_16_masks.bmp", bmp(16, bmp_rows(row.tobytes() for row in words[upward]), compression=3, extra=masks), six)
    record("bmp_8.bmp", bmp(8, bmp_rows(row.tobytes() for row in INDEX[upward]), palette=colors, colors=4), by_index)

    def packed(depth, index):
        bits = np.unpackbits(index[:, :, None], axis=2)[:, :, 8 - depth:]
        return bmp_rows(np.packbits(row.reshape(-1)).tobytes() for row in bits[upward])

    record("bmp_4.bmp", bmp(4, packed(4, INDEX), palette=colors, colors=4), by_index)
    record("bmp_2.bmp", bmp(2, packed(2, INDEX), palette=colors), by_index)
    record("bmp_1.bmp", bmp(1, packed(1, BITS), palette=colors[:8]), PALETTE[BITS])
    old = PALETTE[:, ::-1].tobytes()
    record("bmp_4_os2.bmp", bmp(4, packed(4, INDEX), header_size=12, palette=old), by_index)

    # Three rows of runs, an absolute one, a move to the last row but one from below, and the rest left out.
    rle = bytes([3, 1, 0, 5, 2, 3, 2, 3, 1, 0, 3, 2, 0, 0]) + bytes([11, 3, 0, 0]) + bytes([0, 2, 4, 3, 2, 1, 0, 1])
    index = np.zeros((HEIGHT, WIDTH), np.uint8)
    index[6] = [1, 1, 1, 2, 3, 2, 3, 1, 2, 2, 2]
    index[5] = 3
    index[1, 4:6] = 1
    record("bmp_rle8.bmp", bmp(8, rle, compression=1, palette=colors, colors=4), PALETTE[index])
    rle = bytes([5, 0x12, 0, 6, 0x32, 0x10, 0x12, 0, 0, 0]) + bytes([0, 2, 2, 5, 1, 0x30, 0, 1])
    index = np.zeros((HEIGHT, WIDTH), np.uint8)
    index[6] = [1, 2, 1, 2, 1, 3, 2, 1, 0, 1, 2]
    index[0, 2] = 3
    record("bmp_rle4.bmp", bmp(4, rle, compression=2, palette=colors, colors=4), PALETTE[index])


def write_pnm():
    size = f"{WIDTH} {HEIGHT}"
    text = lambda array: "\n".join(" ".join(str(v) for v in row.reshape(-1)) for row in array).encode()
    record("pnm_p1.pbm", f"P1 # bits\n{size}\n".encode() + "\n".join("".join(map(str, row)) for row in BITS).encode(),
           from_gray(255 * (1 - BITS)))
    record("pnm_p2.pgm", f"P2\n# a comment\n{size}\n# another\n255\n".encode() + text(GRAY), from_gray(GRAY))
    record("pnm_p3.ppm", f"P3 {size} 255\n".encode() + text(RGB), RGB)
    record("pnm_p4.pbm", f"P4\n{size}\n".encode() + np.packbits(BITS, axis=1).tobytes(), from_gray(255 * (1 - BITS)))
    record("pnm_p5.pgm", f"P5 {size} 255\n".encode() + GRAY.tobytes(), from_gray(GRAY))
    record("pnm_p5_16.pgm", f"P5 {size} 65535\n".encode() + GRAY16.astype(">u2").tobytes(), from_gray(to_8_bits(GRAY16, 65535)))
    record("pnm_p6.ppm", f"P6 {size} 255\n".encode() + RGB.tobytes(), RGB)
    record("pnm_p6_100.ppm", f"P6 {size} 100\n".encode() + (RGB % 101).tobytes(), to_8_bits(RGB % 101, 100))


def write_png():
    record("png_rgb.png", png(2, 8, RGB), RGB)
    record("png_rgb_interlaced.png", png(2, 8, RGB, interlaced=True), RGB)
    record("png_rgb_16.png", png(2, 16, RGB.astype(np.uint16) * 256 + 77), to_8_bits(RGB.astype(np.uint16) * 256 + 77, 65535))
    record("png_rgb_key.png", png(2, 8, RGB, chunks=[(b"tRNS", struct.pack(">HHH", *RGB[0, 0]))]), RGB)
    record("png_rgb_gamma.png", png(2, 8, RGB, chunks=[(b"gAMA", struct.pack(">I", 100000))]), RGB)
    record("png_rgba.png", png(6, 8, np.dstack([RGB, ALPHA])), RGB)
    record("png_rgba_16.png", png(6, 16, np.dstack([RGB, ALPHA]).astype(np.uint16) * 257), RGB)
    record("png_gray.png", png(0, 8, GRAY[:, :, None]), from_gray(GRAY))
    record("png_gray_16.png", png(0, 16, GRAY16[:, :, None]), from_gray(to_8_bits(GRAY16, 65535)))
    record("png_gray_4_interlaced.png", png(0, 4, GRAY[:, :, None] >> 4, interlaced=True), from_gray((GRAY >> 4) * 17))
    record("png_gray_1.png", png(0, 1, BITS[:, :, None]), from_gray(BITS * 255))
    record("png_gray_alpha.png", png(4, 8, np.dstack([GRAY, ALPHA])), from_gray(GRAY))
    palette = [(b"PLTE", PALETTE.tobytes())]
    record("png_palette_2.png", png(3, 2, INDEX[:, :, None], chunks=palette), PALETTE[INDEX])
    record("png_palette_alpha.png", png(3, 8, INDEX[:, :, None], chunks=palette + [(b"tRNS", b"\0\x80")]), PALETTE[INDEX])


def write_tiff():
    for name, options in {"raw": {}, "lzw": {"compression": "tiff_lzw"}, "deflate": {"compression": "tiff_adobe_deflate"},
                          "packbits": {"compression": "packbits"}, "big": {"big_tiff": True}}.items():
        pillow(f"tiff_rgb_{name}.tif", RGB, RGB, **options)
    pillow("tiff_rgba.tif", np.dstack([RGB, ALPHA]), RGB)
    pillow("tiff_gray.tif", GRAY, from_gray(GRAY))
    pillow("tiff_gray_16.tif", GRAY16, from_gray(to_8_bits(GRAY16, 65535)))
    pillow("tiff_bits_group4.tif", Image.fromarray(BITS * 255).convert("1"), from_gray(BITS * 255), compression="group4")
    pillow("tiff_palette.tif", indexed(), PALETTE[INDEX])
    # The stored pixels are RGB; what they show is turned.
    shown = {2: RGB[:, ::-1], 3: RGB[::-1, ::-1], 4: RGB[::-1], 5: RGB.transpose(1, 0, 2), 6: np.rot90(RGB, -1),
             7: RGB[::-1, ::-1].transpose(1, 0, 2), 8: np.rot90(RGB)}
    for orientation, rgb in shown.items():
        pillow(f"tiff_orientation_{orientation}.tif", RGB, rgb, tiffinfo={274: orientation})


def write_lossy():
    pillow("jpeg_rgb_420.jpg", RGB, quality=90, subsampling=2)
    pillow("jpeg_rgb_444.jpg", RGB, quality=90, subsampling=0)
    pillow("jpeg_rgb_progressive.jpg", RGB, quality=90, progressive=True)
    pillow("jpeg_gray.jpg", GRAY, quality=90)
    cmyk = Image.fromarray(np.dstack([255 - RGB, ALPHA // 4]), "CMYK")
    pillow("jpeg_cmyk.jpg", cmyk, quality=95)
    pillow("tiff_rgb_jpeg.tif", RGB, compression="jpeg", quality=90)
    pillow("webp_rgb.webp", RGB, quality=90)
    pillow("webp_rgb_lossless.webp", RGB, RGB, lossless=True)
    pillow("webp_rgba_lossless.webp", np.dstack([RGB, ALPHA]), RGB, lossless=True, exact=True)
    second = Image.fromarray(RGB[::-1])
    pillow("webp_animation.webp", Image.fromarray(RGB), RGB, save_all=True, append_images=[second], lossless=True)
    pillow("jpeg2000_rgb.jp2", RGB, RGB)
    pillow("jpeg2000_rgb_codestream.j2k", RGB, RGB)
    pillow("jpeg2000_rgb_tiles.jp2", RGB, RGB, tile_size=(4, 4), num_resolutions=2)
    pillow("jpeg2000_rgb_lossy.jp2", RGB, irreversible=True, quality_mode="rates", quality_layers=[4])
    pillow("jpeg2000_rgba.jp2", np.dstack([RGB, ALPHA]), RGB)
    pillow("jpeg2000_gray.jp2", GRAY, from_gray(GRAY))
    pillow("jpeg2000_gray_16.jp2", GRAY16, from_gray(to_8_bits(GRAY16, 65535)))


if __name__ == "__main__":
    write_bmp()
    write_pnm()
    write_png()
    write_tiff()
    write_lossy()
    np.savez_compressed(HERE / "pixels.npz", **pixels)
    print(f"{len(pixels)} files")
