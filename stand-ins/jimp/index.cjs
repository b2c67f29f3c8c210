/** A decoded picture, as far as potrace looks at one: four bytes a pixel, row by row. */
class Jimp {
  constructor(bitmap) {
    this.bitmap = bitmap;
  }

  scan(left, top, width, height, visit) {
    for (let y = top; y < top + height; y += 1) {
      for (let x = left; x < left + width; x += 1) visit.call(this, x, y, (y * this.bitmap.width + x) * 4);
    }
  }
}

module.exports = Jimp;
