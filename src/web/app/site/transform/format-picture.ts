/** The formats of the `<source>` elements. Browsers take the first one that they support. */
export const PICTURE_FORMATS = [
  { format: 'AVIF', type: 'image/avif', name: 'avif' },
  { format: 'WEBP', type: 'image/webp', name: 'webp' },
] as const;

export interface PictureImage {
  readonly src?: string | null;
  readonly srcSet?: string | null;
  readonly sizes?: string | null;
  readonly width?: number | null;
  readonly height?: number | null;
  readonly presentationWidth?: number | null;
  readonly presentationHeight?: number | null;
}

/** Formats a `<picture>` element; `undefined` without an image. */
export function formatPicture(images: Readonly<Record<string, PictureImage | null>>): string | undefined {
  const { image } = images;
  if (!image?.src) return undefined;
  const sources = PICTURE_FORMATS.flatMap(({ type, name }) => {
    const srcset = images[name]?.srcSet ?? images[name]?.src;
    return srcset ? [`  <source${attributes({ type, srcset, sizes: image.sizes })}>`] : [];
  });
  const width = image.width ?? image.presentationWidth;
  const height = image.height ?? image.presentationHeight;
  const img = `  <img${attributes({ src: image.src, srcset: image.srcSet, sizes: image.sizes, width, height })} alt="" loading="lazy" decoding="async">`;
  return ['<picture>', ...sources, img, '</picture>'].join('\n');
}

const attributes = (values: Readonly<Record<string, number | string | null | undefined>>): string =>
  Object.entries(values)
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value]) => ` ${name}="${escape(String(value))}"`)
    .join('');

const escape = (text: string): string =>
  text
    .replace(/\s*\n\s*/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;');
