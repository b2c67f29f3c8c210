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
