import type { Size } from './sizes.js';

/** A rectangle in an image, in pixels from the top left corner. */
export interface Box extends Size {
  readonly left: number;
  readonly top: number;
}

/** Converts a box from the pixels as stored in the file to the image with its EXIF orientation (1 to 8) applied. */
export function orientBox(box: Box, file: Size, orientation: number): Box {
  const { left, top, width, height } = box;
  const [right, bottom] = [file.width - left - width, file.height - top - height];
  const turned = { width: height, height: width };
  switch (orientation) {
    case 2:
      return { ...box, left: right };
    case 3:
      return { ...box, left: right, top: bottom };
    case 4:
      return { ...box, top: bottom };
    case 5:
      return { ...turned, left: top, top: left };
    case 6:
      return { ...turned, left: bottom, top: left };
    case 7:
      return { ...turned, left: bottom, top: right };
    case 8:
      return { ...turned, left: top, top: right };
    default:
      return box;
  }
}
