import { useLocation } from 'preact-iso';

interface PartsProps {
  /** The accessible name of the navigation. */
  readonly name: string;
  /** Path and name of each page. Any other path belongs to the first page. */
  readonly parts: readonly (readonly [string, string])[];
}

/** Links between the pages of a section. */
export function SectionTabs({ name, parts }: PartsProps) {
  const { path } = useLocation();
  const isOther = !parts.some(([address]) => address === path);
  const toCurrent = (address: string, index: number) => {
    if (address === path) return 'page';
    return isOther && index === 0 ? 'true' : undefined;
  };
  return (
    <nav aria-label={name}>
      <ul class="parts">
        {parts.map(([address, part], index) => (
          <li key={address}>
            <a href={address} aria-current={toCurrent(address, index)}>
              {part}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
