import { once } from 'node:events';
import { createDeflate, deflateSync } from 'node:zlib';
import { scene } from '../image-folder.js';

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

type Format = 'jpeg' | 'png' | 'webp' | 'gif';

/** Returns the first half of an image file. */
export async function truncated(format: Format): Promise<Buffer> {
  const whole = await scene(300, 200).toFormat(format).toBuffer();
  return whole.subarray(0, whole.length / 2);
}

/** Returns the range of bytes whose corruption every decoder detects. Other damage often only changes the image. */
const CORRUPT_RANGES: Readonly<Record<Format, (whole: Buffer) => readonly [start: number, end: number]>> = {
  jpeg: () => [4, 300],
  png: ({ length }) => [length / 2, length / 2 + 100],
  webp: () => [12, 40],
  gif: ({ length }) => [length / 2, length / 2 + 200],
};

/** Returns an image file with a corrupted range of bytes. */
export async function corrupt(format: Format): Promise<Buffer> {
  const whole = await scene(300, 200).toFormat(format).toBuffer();
  const [start, end] = CORRUPT_RANGES[format](whole);
  whole.subarray(start, end).forEach((byte, index, part) => void (part[index] = byte ^ 0x55));
  return whole;
}

/** Returns a small PNG whose header claims many pixels. */
export function headerBomb(side: number): Buffer {
  return png(side, 2, deflateSync(Buffer.alloc(1000)));
}

/** Returns a PNG of a few hundred kilobytes that contains all of its many pixels, one bit each. */
export async function wholeBomb(side: number): Promise<Buffer> {
  const deflate = createDeflate({ level: 1 });
  const chunks: Buffer[] = [];
  deflate.on('data', (chunk: Buffer) => chunks.push(chunk));
  const rows = Buffer.alloc((1 + Math.ceil(side / 8)) * 100);
  for (let row = 0; row < side; row += 100) if (!deflate.write(rows)) await once(deflate, 'drain');
  deflate.end();
  await once(deflate, 'end');
  return png(side, 0, Buffer.concat(chunks));
}

function png(side: number, colourType: 0 | 2, pixels: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([colourType === 0 ? 1 : 8, colourType, 0, 0, 0], 8);
  return Buffer.concat([PNG_SIGNATURE, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

function crc32(bytes: Buffer): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** Returns a drawing that refers to files and URLs in every way that SVG allows. */
export const prying = (port: number, file: string): string => `<?xml version="1.0"?>
<?xml-stylesheet href="http://127.0.0.1:${port}/sheet.css" type="text/css"?>
<!DOCTYPE svg [<!ENTITY passwd SYSTEM "file:///etc/passwd"><!ENTITY far SYSTEM "http://127.0.0.1:${port}/entity">]>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
  xmlns:xi="http://www.w3.org/2001/XInclude" width="60" height="40">
  <style>@import url("http://127.0.0.1:${port}/import.css"); text { fill: url(http://127.0.0.1:${port}/fill.svg#a) }</style>
  ${[`http://127.0.0.1:${port}/a.png`, 'file:///etc/passwd', file, `file://${file}`, 'good.png', '../good.png']
    .map((href) => `<image href="${href}" width="60" height="40"/><image xlink:href="${href}" width="60" height="40"/>`)
    .join('')}
  <use href="http://127.0.0.1:${port}/b.svg#a"/><use href="good.svg#a"/>
  <xi:include href="file:///etc/passwd" parse="text"/>
</svg>`;
