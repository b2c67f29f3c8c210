/** The shapes of the icons: lines on a grid of 16 by 16. */
const SHAPES = {
  check: 'M3 8.5 6.5 12 13 4.5',
  cross: 'M4 4l8 8M12 4l-8 8',
  clock: 'M8 2a6 6 0 1 0 0 12A6 6 0 1 0 8 2M8 5v3.5l2 1.5',
  dash: 'M4 8h8',
  conflict: 'M8 2.5 14.5 13.5h-13ZM8 6.5v3M8 11.5v.3',
  draft: 'M6 2.3a6 6 0 0 1 4 0M13 5a6 6 0 0 1 0 6M10 13.7a6 6 0 0 1-4 0M3 11A6 6 0 0 1 3 5',
  open: 'M4 5.5a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6v5a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6M12 10.5a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6V6a2 2 0 0 0-2-2H8.5m1.7-2L8 4l2.2 2',
  review: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8M8 6a2 2 0 1 0 0 4 2 2 0 1 0 0-4',
  // Pages of the navigation, and empty lists.
  issue: 'M8 2a6 6 0 1 0 0 12A6 6 0 1 0 8 2M8 7v2',
  chart: 'M2.5 13.5h11M4.5 11V8M8 11V3M11.5 11V6',
  lock: 'M3.5 7.5h9v6h-9ZM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5',
  folder: 'M2 12.5v-9h4.5L8 5.5h6v7Z',
  grid: 'M2.5 2.5H7V7H2.5ZM9 2.5h4.5V7H9ZM2.5 9H7v4.5H2.5ZM9 9h4.5v4.5H9Z',
  sliders: 'M2 5h6M12 5h2M10 3a2 2 0 1 0 0 4 2 2 0 1 0 0-4M2 11h2M8 11h6M6 9a2 2 0 1 0 0 4 2 2 0 1 0 0-4',
  person: 'M8 2a2.8 2.8 0 1 0 0 5.6A2.8 2.8 0 1 0 8 2M2.5 14c0-2.8 2.3-4.2 5.5-4.2s5.5 1.4 5.5 4.2',
  menu: 'M2.5 4h11M2.5 8h11M2.5 12h11',
  dots: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  repository: 'M3.5 12V3.5a1.5 1.5 0 0 1 1.5-1.5h7.5v12H5A1.5 1.5 0 0 1 5 11h7.5',
  // Code hosts: a cat's head, a fox, and two branches.
  github:
    'M3 6.4V2.5l2.6 1.3a8 8 0 0 1 4.8 0L13 2.5v3.9c.6.8 1 1.7 1 2.7 0 2.9-2.6 4.4-6 4.4s-6-1.5-6-4.4c0-1 .4-1.9 1-2.7',
  gitlab: 'M8 13.5 1.5 9l2-6.5 2 4h5l2-4 2 6.5Z',
  forgejo:
    'M5 10.2V6.5a3 3 0 0 1 3-3h1.5M5 10.2V10a2.5 2.5 0 0 1 2.5-2.5h2M11.2 1.8a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 1 0 0-3.4M11.2 5.8a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 1 0 0-3.4M5 10.4A1.7 1.7 0 1 0 5 13.8a1.7 1.7 0 1 0 0-3.4',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 1 0 0-9M10.5 10.5 14 14',
} as const;

export type IconName = keyof typeof SHAPES;

/** A decorative icon in the colour of the text; the words beside it carry the meaning. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={SHAPES[name]} />
    </svg>
  );
}

/** The number of colours in the style sheet. */
const COLOURS = 8;

/** The initials of a user in a circle, in a colour that follows from the name. Decorative: the name is beside it. */
export const Avatar = ({ name }: { readonly name: string }) => (
  <span class="avatar" aria-hidden="true" data-initials={toInitials(name)} data-colour={toColour(name)} />
);

/** Returns the initials of the first two words of a name or login. */
const toInitials = (name: string): string =>
  name
    .split(/[\s._-]+/)
    .filter((word) => word !== '')
    .slice(0, 2)
    .map((word) => String.fromCodePoint(word.codePointAt(0) ?? 0))
    .join('')
    .toUpperCase();

function toColour(name: string): number {
  let sum = 0;
  for (const char of name.toLowerCase()) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 65_521;
  return sum % COLOURS;
}
