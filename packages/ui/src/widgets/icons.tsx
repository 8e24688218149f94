import type { ReactNode } from "react";

function Icon(props: { children: ReactNode }) {
  return (
    <svg
      width="16"
      height="16"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {props.children}
    </svg>
  );
}

export function CopyIcon() {
  return (
    <Icon>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
      <path d="M10.500 3.500v-.500A1.500 1.500 0 0 0 9 1.500H3.500A1.500 1.500 0 0 0 2 3v5.500A1.500 1.500 0 0 0 3.500 10h.500" />
    </Icon>
  );
}

export function CheckIcon() {
  return (
    <Icon>
      <path d="M3.500 8.500l3 3 6-7" />
    </Icon>
  );
}

export function SunIcon() {
  return (
    <Icon>
      <circle cx="8" cy="8" r="2.800" />
      <path d="M8 1.500v1.200M8 13.300v1.200M1.500 8h1.200M13.300 8h1.200M3.400 3.400l.900.900M11.700 11.700l.900.900M12.600 3.400l-.900.900M4.300 11.700l-.900.900" />
    </Icon>
  );
}

export function MoonIcon() {
  return (
    <Icon>
      <path d="M13.500 9.600A5.800 5.800 0 0 1 6.400 2.500a5.800 5.800 0 1 0 7.100 7.100z" />
    </Icon>
  );
}

export function ScreenIcon() {
  return (
    <Icon>
      <rect x="2" y="3" width="12" height="8" rx="1.500" />
      <path d="M6 13.500h4" />
    </Icon>
  );
}

export function SearchIcon() {
  return (
    <Icon>
      <circle cx="7" cy="7" r="4.200" />
      <path d="M10.200 10.200l3.300 3.300" />
    </Icon>
  );
}

export function CloseIcon() {
  return (
    <Icon>
      <path d="M4 4l8 8M12 4l-8 8" />
    </Icon>
  );
}

export function DownloadIcon() {
  return (
    <Icon>
      <path d="M8 2.500v7.500M4.800 7l3.200 3.200L11.200 7M2.800 13.500h10.400" />
    </Icon>
  );
}

export function FollowIcon() {
  return (
    <Icon>
      <path d="M8 2.500v8.500M4.800 8l3.200 3.200L11.200 8M3 13.500h10" />
    </Icon>
  );
}
