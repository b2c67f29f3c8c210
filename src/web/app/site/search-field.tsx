import { useEffect, useState } from 'preact/hooks';

/** Waits for the user to stop typing, so that not every letter starts a search. */
const SEARCH_DELAY_MS = 300;

interface SearchFieldProps {
  readonly label: string;
  readonly search: string;
  readonly maxLength: number;
  readonly onSearch: (search: string) => void;
}

/** A search field that reports its text once the user stops typing. */
export function SearchField({ label, search, maxLength, onSearch }: SearchFieldProps) {
  const [text, setText] = useState(search);
  const searched = text.trim();
  useEffect(() => {
    if (searched === search) return;
    const timer = setTimeout(() => onSearch(searched), SEARCH_DELAY_MS);
    return () => clearTimeout(timer);
  });
  return (
    <label class="search">
      {label}
      <input
        type="search"
        maxLength={maxLength}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
    </label>
  );
}
