import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import sharp, { type Sharp } from 'sharp';

/** Draws the images of `examples/site`: one of each format, a few kilobytes each. */
const IMAGES = path.join(import.meta.dirname, '../examples/site/images');

interface Palette {
  readonly sky: readonly [string, string];
  readonly sun: string;
  readonly hills: readonly string[];
}

const DAWN: Palette = { sky: ['#f7b267', '#4a6fa5'], sun: '#fff1c9', hills: ['#7a8b99', '#53687e', '#2f4858'] };
const NOON: Palette = { sky: ['#d7eefc', '#5aa9e6'], sun: '#fffbe0', hills: ['#a3cf8f', '#6fae6a', '#3f7d4e'] };
const DUSK: Palette = { sky: ['#f25f5c', '#2b2d63'], sun: '#ffd166', hills: ['#6d4c7d', '#4b3869', '#2a2350'] };

function landscape(width: number, height: number, { sky, sun, hills }: Palette): string {
  const ridges = hills.map((fill, index) => `<path d="${ridge(width, height, index)}" fill="${fill}"/>`);
  return svg(
    width,
    height,
    `<defs><linearGradient id="sky" x1="0" y1="1" x2="0" y2="0">
      <stop offset="0.25" stop-color="${sky[0]}"/><stop offset="1" stop-color="${sky[1]}"/></linearGradient></defs>
    <rect width="${width}" height="${height}" fill="url(#sky)"/>
    <circle cx="${width * 0.7}" cy="${height * 0.38}" r="${height * 0.11}" fill="${sun}"/>${ridges.join('')}
    ${trellis(width * 0.06, height * 0.42, height * 0.5)}`,
  );
}

/** Draws a line of hills, lower and more uneven towards the viewer. */
function ridge(width: number, height: number, index: number): string {
  const points = Array.from({ length: 41 }, (_, step) => {
    const x = step / 40;
    const wave = Math.sin(x * (5 + index * 2.3) + index * 1.9) + 0.45 * Math.sin(x * (13 + index * 4) + index);
    return `${(x * width).toFixed(1)},${(height * (0.56 + index * 0.13 - wave * 0.045)).toFixed(1)}`;
  });
  return `M0,${height} L${points.join(' L')} L${width},${height} Z`;
}

/** Draws a garden trellis with leaves of the given height and two thirds of that width. */
function trellis(left: number, top: number, height: number): string {
  const width = (height * 2) / 3;
  const bars = [0, 1, 2, 3].map((bar) => {
    const x = left + (width * bar) / 3;
    return `<path d="M${x} ${top}V${top + height}" stroke="#6b4f3a" stroke-width="${height / 36}"/>`;
  });
  const rungs = [1, 2, 3, 4].map((rung) => {
    const y = top + (height * rung) / 5;
    return `<path d="M${left} ${y}H${left + width}" stroke="#7d5d45" stroke-width="${height / 48}"/>`;
  });
  const leaves = Array.from({ length: 14 }, (_, index) => {
    const x = left + (width * ((index * 37) % 100)) / 100;
    const y = top + height - (height * index) / 14;
    return leaf(x, y, height / 22, (index * 67) % 180);
  });
  return [...bars, ...rungs, ...leaves].join('');
}

function leaf(x: number, y: number, size: number, turn: number): string {
  return `<ellipse cx="${x}" cy="${y}" rx="${size * 1.5}" ry="${size * 0.7}" fill="${turn % 2 ? '#5c9e51' : '#3f7d4e'}" transform="rotate(${turn} ${x} ${y})"/>`;
}

/** Draws a ripe tomato without a background. */
function tomato(side: number): string {
  const star = [0, 72, 144, 216, 288].map(
    (turn) => `<path d="M50 30 Q57 18 54 6 Q48 16 46 30 Z" fill="#3f7d4e" transform="rotate(${turn} 50 31)"/>`,
  );
  return svg(
    side,
    side,
    `<g transform="scale(${side / 100})"><defs><radialGradient id="skin" cx="0.38" cy="0.35" r="0.75">
      <stop offset="0" stop-color="#ff8b66"/><stop offset="0.55" stop-color="#e23d28"/>
      <stop offset="1" stop-color="#9d1c1c"/></radialGradient></defs>
    <ellipse cx="52" cy="92" rx="32" ry="5" fill="#000" opacity="0.18"/>
    <ellipse cx="50" cy="59" rx="38" ry="33" fill="url(#skin)"/>${star.join('')}</g>`,
  );
}

function sunflower(width: number, height: number): string {
  const [x, y, size] = [width / 2, height * 0.36, width * 0.3];
  const petals = Array.from({ length: 24 }, (_, index) => {
    const fill = index % 2 ? '#f6b221' : '#ffd34e';
    return `<ellipse cx="${x}" cy="${y - size}" rx="${size * 0.2}" ry="${size * 0.52}" fill="${fill}" transform="rotate(${index * 15} ${x} ${y})"/>`;
  });
  return svg(
    width,
    height,
    `<defs><linearGradient id="air" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#8fc9ee"/>
      <stop offset="1" stop-color="#e5f3e0"/></linearGradient></defs>
    <rect width="${width}" height="${height}" fill="url(#air)"/>
    <path d="M${x} ${y} Q${x + width * 0.06} ${height * 0.7} ${x} ${height}" stroke="#4c8a3f" stroke-width="${width * 0.05}" fill="none"/>
    ${leaf(x - width * 0.16, height * 0.72, width * 0.09, 31)}${leaf(x + width * 0.18, height * 0.82, width * 0.09, 152)}
    ${petals.join('')}<circle cx="${x}" cy="${y}" r="${size * 0.66}" fill="#5b3a1e"/>
    <circle cx="${x}" cy="${y}" r="${size * 0.42}" fill="#3c2412"/>`,
  );
}

/** Draws a pressed leaf on old paper. */
function herbarium(width: number, height: number): string {
  const veins = Array.from({ length: 7 }, (_, index) => {
    const y = height * (0.3 + index * 0.07);
    const reach = width * 0.24 * Math.sin((Math.PI * (index + 1)) / 8);
    return `<path d="M${width / 2 - reach} ${y - reach * 0.5} L${width / 2} ${y} L${width / 2 + reach} ${y - reach * 0.5}" fill="none"/>`;
  });
  return svg(
    width,
    height,
    `<rect width="${width}" height="${height}" fill="#efe3c2"/>
    <rect x="8" y="8" width="${width - 16}" height="${height - 16}" fill="none" stroke="#c8b688" stroke-width="2"/>
    <path d="M${width / 2} ${height * 0.12} C${width * 0.9} ${height * 0.4} ${width * 0.72} ${height * 0.74} ${width / 2} ${height * 0.8}
      C${width * 0.28} ${height * 0.74} ${width * 0.1} ${height * 0.4} ${width / 2} ${height * 0.12} Z" fill="#8a9a5b"/>
    <g stroke="#5f6f3a" stroke-width="2">${veins.join('')}<path d="M${width / 2} ${height * 0.14} V${height * 0.92}"/></g>`,
  );
}

/** Draws a frame of an animation in which a plant grows. */
function seedling(side: number, age: number): string {
  const top = side * (0.78 - age * 0.16);
  const pairs = Array.from({ length: age + 1 }, (_, index) => {
    const y = top + (index * side * 0.16 * age) / (age + 1);
    const size = side * (0.05 + index * 0.012);
    return leaf(side / 2 - size, y, size, 25) + leaf(side / 2 + size, y, size, 155);
  });
  return svg(
    side,
    side,
    `<rect width="${side}" height="${side}" fill="#e8f4f8"/>
    <rect y="${side * 0.84}" width="${side}" height="${side * 0.16}" fill="#6b4f3a"/>
    <path d="M${side / 2} ${side * 0.86} V${top}" stroke="#4c8a3f" stroke-width="3"/>${pairs.join('')}`,
  );
}

function svg(width: number, height: number, content: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${content}</svg>`;
}

const draw = (text: string): Sharp => sharp(Buffer.from(text)).removeAlpha();

async function growth(side: number): Promise<Sharp> {
  const pictures = [0, 1, 2, 3].map((age) => draw(seedling(side, age)).png().toBuffer());
  return sharp(await Promise.all(pictures), { join: { animated: true } });
}

await mkdir(path.join(IMAGES, 'beds'), { recursive: true });
const to = (name: string): string => path.join(IMAGES, name);
await draw(landscape(960, 640, DAWN))
  .jpeg({ quality: 72 })
  .toFile(to('garden-at-dawn.jpg'));
await draw(landscape(720, 480, NOON))
  .webp({ quality: 70 })
  .toFile(to('beds/meadow.webp'));
await draw(landscape(640, 360, DUSK))
  .avif({ quality: 50 })
  .toFile(to('beds/evening.avif'));
await draw(landscape(480, 480, NOON))
  .jpeg({ quality: 70 })
  .toFile(to('beds/North Bed.JPG'));
await sharp(Buffer.from(tomato(320)))
  .png({ palette: true })
  .toFile(to('tomato.png'));
// Stored on its side with an EXIF orientation, as phones write upright photographs.
await draw(sunflower(400, 600))
  .rotate(-90)
  .jpeg({ quality: 70 })
  .withMetadata({ orientation: 6 })
  .toFile(to('sunflower.jpg'));
await draw(herbarium(300, 420)).tiff({ compression: 'deflate', predictor: 'horizontal' }).toFile(to('herbarium.tiff'));
await (await growth(120)).gif({ colours: 32, delay: [600, 600, 600, 1200], loop: 0 }).toFile(to('seedling.gif'));
