import { Field } from './field.js';

interface UsernameFieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
}

/** A field for a different user's name, which browsers must not autocomplete or correct. */
export const UsernameField = (props: UsernameFieldProps) => (
  <Field
    label="Username"
    required
    maxLength={64}
    autoComplete="off"
    autoCapitalize="none"
    spellcheck={false}
    {...props}
  />
);
