import { useEffect, useState } from 'preact/hooks';
import { PhraseList } from './phrase-list.js';
import { PhraseQuestion } from './phrase-question.js';

interface MakePhraseProps {
  /** Once it is written down: the words with single spaces between. */
  readonly onPhrase: (phrase: string) => Promise<void>;
}

/** Makes a recovery phrase, shows it, and asks whether it is on paper. */
export function MakePhrase({ onPhrase }: MakePhraseProps) {
  const [words, setWords] = useState<readonly string[]>();
  const [isAsked, setAsked] = useState(false);
  useEffect(() => void import('./phrase.js').then(({ makePhrase }) => setWords(makePhrase())), []);
  if (words === undefined) return null;
  if (!isAsked) return <PhraseList words={words} onNext={() => setAsked(true)} />;
  return <PhraseQuestion words={words} onBack={() => setAsked(false)} onNext={() => onPhrase(words.join(' '))} />;
}
