/**
 * How characters look. A colour is the name of a palette entry (`0` … `255`) or `#rrggbb`; undefined is the page's own.
 */
export interface TextStyle {
  readonly foreground?: string;
  readonly background?: string;
  readonly bold?: true;
  readonly dim?: true;
  readonly italic?: true;
  readonly underline?: true;
  readonly inverse?: true;
  readonly strike?: true;
}

/** Ids fit into 16 bits; a log with more styles than this shows the rest plain. */
const stylesMax = 65_535;

/**
 * Every style a log has used, by number; 0 is plain. Select Graphic Rendition (ECMA-48 §8.3.117 and xterm's colours) moves
 * from one to another.
 */
export class StyleTable {
  private readonly styles: TextStyle[] = [{}];
  private readonly ids = new Map<string, number>([["{}", 0]]);
  private readonly moves = new Map<string, number>();

  get size(): number {
    return this.styles.length;
  }

  style(id: number): TextStyle {
    return this.styles[id] ?? {};
  }

  /** Styles numbered `from` and above, for a reader that has the ones below. */
  since(from: number): TextStyle[] {
    return this.styles.slice(from);
  }

  /** The style after `ESC [ parameters m` in style `id`. */
  move(id: number, parameters: string): number {
    const key = `${id}:${parameters}`;
    const known = this.moves.get(key);
    if (known !== undefined) return known;
    const next = this.intern(selectGraphicRendition(this.style(id), parameters));
    if (this.moves.size < stylesMax) this.moves.set(key, next);
    return next;
  }

  /** Parameters that select style `id` from whatever was before. */
  parameters(id: number): string {
    const style = this.style(id);
    const codes = ["0"];
    for (const [code, key] of Object.entries(attributes)) if (style[key] === true) codes.push(code);
    if (style.foreground !== undefined) codes.push(`38;${colourCodes(style.foreground)}`);
    if (style.background !== undefined) codes.push(`48;${colourCodes(style.background)}`);
    return codes.join(";");
  }

  private intern(style: TextStyle): number {
    const key = JSON.stringify(Object.fromEntries(Object.entries(style).sort()));
    const known = this.ids.get(key);
    if (known !== undefined) return known;
    if (this.styles.length >= stylesMax) return 0;
    const id = this.styles.length;
    this.styles.push(style);
    this.ids.set(key, id);
    return id;
  }
}

type Draft = { -readonly [K in keyof TextStyle]: TextStyle[K] };

function selectGraphicRendition(from: TextStyle, parameters: string): TextStyle {
  const draft: Draft = { ...from };
  const codes = parameters.split(/[;:]/).map((code) => (code === "" ? 0 : Number(code)));
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) at += extendedColour(draft, code, codes.slice(at + 1));
    else applyCode(draft, code);
  }
  return draft;
}

const attributes = {
  1: "bold",
  2: "dim",
  3: "italic",
  4: "underline",
  7: "inverse",
  9: "strike",
} as const satisfies Record<number, keyof TextStyle>;

const resets: Readonly<Record<number, readonly (keyof TextStyle)[]>> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  27: ["inverse"],
  29: ["strike"],
  39: ["foreground"],
  49: ["background"],
};

function applyCode(draft: Draft, code: number): void {
  if (code === 0) for (const key of Object.keys(draft) as (keyof TextStyle)[]) delete draft[key];
  else if (code in attributes) draft[attributes[code as keyof typeof attributes]] = true;
  else if (code in resets) for (const key of resets[code] ?? []) delete draft[key];
  else if (code >= 30 && code <= 37) draft.foreground = String(code - 30);
  else if (code >= 90 && code <= 97) draft.foreground = String(code - 90 + 8);
  else if (code >= 40 && code <= 47) draft.background = String(code - 40);
  else if (code >= 100 && code <= 107) draft.background = String(code - 100 + 8);
}

/** `5;n` or `2;r;g;b` after 38 or 48. Returns how many codes it took. */
function extendedColour(draft: Draft, target: 38 | 48, codes: readonly number[]): number {
  const key = target === 38 ? "foreground" : "background";
  const byte = (value: number | undefined): number => Math.min(255, Math.max(0, Math.trunc(value ?? 0) || 0));
  if (codes[0] === 5) {
    draft[key] = String(byte(codes[1]));
    return 2;
  }
  if (codes[0] === 2) {
    const hex = [codes[1], codes[2], codes[3]].map((value) => byte(value).toString(16).padStart(2, "0"));
    draft[key] = `#${hex.join("")}`;
    return 4;
  }
  return codes.length;
}

function colourCodes(colour: string): string {
  if (!colour.startsWith("#")) return `5;${colour}`;
  const bytes = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  return `2;${bytes.join(";")}`;
}
