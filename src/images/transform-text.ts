import type { OutputFormat } from './formats.js';
import { PIPELINE_VERSION } from './transform.js';
import type { ImageTransform } from './transform.js';

/**
 * Formats a transform for a link: the pipeline version, then one letter and value per member, such as
 * `v1_w800_h600_q50_p1`. Common values are omitted. The format is not included: it is the extension of the link.
 */
export function formatTransformText(recipe: ImageTransform): string {
  const { duotone, background, focus } = recipe;
  const members = {
    v: PIPELINE_VERSION,
    w: recipe.width,
    h: recipe.height,
    s: recipe.scaling === 'fill' ? undefined : recipe.scaling,
    f: focus?.toLowerCase(),
    b: background && withoutHash(background),
    o: recipe.orient ? undefined : 0,
    r: recipe.rotate,
    t: recipe.trim,
    g: recipe.grayscale && 1,
    d: duotone && [withoutHash(duotone.highlight), withoutHash(duotone.shadow), duotone.opacity].join('-'),
    q: recipe.quality,
    p: recipe.progressive === undefined ? undefined : Number(recipe.progressive),
    c: recipe.compressionLevel,
    e: recipe.speed,
  };
  return Object.entries(members)
    .flatMap(([letter, value]) => (value === undefined ? [] : [`${letter}${value}`]))
    .join('_');
}

/** The inverse of {@link formatTransformText}. The text is not validated, so callers verify its signature first. */
export function parseTransformText(text: string, format: OutputFormat): ImageTransform {
  const members = new Map(text.split('_').map((member) => [member[0], member.slice(1)]));
  const number = (letter: string): number | undefined => {
    const value = members.get(letter);
    return value === undefined ? undefined : Number(value);
  };
  const [highlight, shadow, opacity] = members.get('d')?.split('-') ?? [];
  const background = members.get('b');
  const progressive = number('p');
  const all = {
    format,
    width: number('w'),
    height: number('h'),
    scaling: members.get('s') ?? 'fill',
    focus: members.get('f')?.toUpperCase(),
    background: background && `#${background}`,
    orient: members.get('o') !== '0',
    rotate: number('r'),
    trim: number('t'),
    grayscale: members.has('g') || undefined,
    duotone: highlight && { highlight: `#${highlight}`, shadow: `#${shadow}`, opacity: Number(opacity) },
    quality: number('q'),
    progressive: progressive === undefined ? undefined : progressive === 1,
    compressionLevel: number('c'),
    speed: number('e'),
  };
  // The verified signature guarantees that the text was formatted from a transform.
  return Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined),
  ) as unknown as ImageTransform;
}

const withoutHash = (colour: string): string => colour.replace('#', '');
